"""What the settings promise of each GPU pool."""

from __future__ import annotations

from gates.model import Expected
from settings import Settings
from settings.gpu_facts import gpu_resources, has_host_mig


def expected_pools(settings: Settings) -> tuple[Expected, ...]:
    """What one node of each pool should offer, in the order of the settings."""
    return tuple(
        Expected(
            name, gpu_resources(pool), pool.driver.source.value, has_host_mig(pool) or pool.sharing.mig is not None
        )
        for name, pool in settings.pools.items()
    )
