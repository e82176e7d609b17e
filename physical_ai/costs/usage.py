"""The price of a GPU-hour in each pool."""

from __future__ import annotations

from physical_ai.catalog import price
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import gpu_resources, knows_gpu


def gpu_hour_prices(settings: Settings) -> dict[str, float]:
    """USD by pool: the list price of a node, divided by what it offers. Pools without a price are left out."""
    found: dict[str, float] = {}
    for name, pool in settings.pools.items():
        listed = price(pool.sku, settings.region)
        if listed is not None and knows_gpu(pool):
            found[name] = listed.usd_per_hour / sum(gpu_resources(pool).values())
    return found
