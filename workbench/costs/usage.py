"""The price of a GPU-hour in each pool."""

from __future__ import annotations

from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import knows_gpu
from physical_ai.settings.facts.telemetry import gpu_hour_usd


def gpu_hour_prices(settings: Settings) -> dict[str, float]:
    """Price of a GPU-hour in USD, by pool: the list price of a node divided by the number of its GPU resources.

    Pools without a price are left out.
    """
    found = {name: gpu_hour_usd(settings, pool) for name, pool in settings.pools.items() if knows_gpu(pool)}
    return {name: usd for name, usd in found.items() if usd is not None}
