"""Facts about the capacity of pools: pools that serve one platform together, reserved machines, and
nodes that are kept ready. Pure functions.
"""

from __future__ import annotations

from physical_ai.settings.facts.gpu import gpu_resources
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

RESOURCE_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"
"""Beginning of the tags of a scale set with the resources of its nodes (kubernetes/autoscaler,
cloudprovider/azure/README.md).
"""


def serving(settings: Settings, platform: str) -> tuple[str, ...]:
    """Pools whose `capacity.platform` is this platform, Spot pools first, then in the order of the settings."""
    found = [name for name, pool in settings.pools.items() if pool.capacity.platform == platform]
    return tuple(sorted(found, key=lambda name: not settings.pools[name].is_spot))


def members(settings: Settings, name: str) -> tuple[str, ...]:
    """The pools that serve a pool's platform together, the pool among them; the pool alone if it shares none."""
    platform = settings.pools[name].capacity.platform
    return (name,) if platform is None else serving(settings, platform)


def is_first(settings: Settings, name: str) -> bool:
    """True for a pool whose settings the platform has: one that shares no platform, or the first of those that do."""
    return members(settings, name)[0] == name


def falls_back(settings: Settings) -> tuple[str, ...]:
    """Spot pools for which on-demand pools stand in, in the order of the settings."""
    return tuple(name for name, pool in settings.pools.items() if pool.is_spot and _on_demand(settings, pool))


def reserved_machines(pool: Pool) -> int:
    """Number of machines that the stack reserves for a pool, in all of its zones together."""
    reservation = pool.capacity.reservation
    if reservation is None or reservation.machines is None:
        return 0
    return reservation.machines * max(len(pool.zones), 1)


def warm_pools(settings: Settings) -> tuple[str, ...]:
    """Pools of which nodes are kept ready without work, in the order of the settings."""
    return tuple(name for name, pool in settings.pools.items() if pool.capacity.warm)


def warm_name(pool: str) -> str:
    """Name of the Deployment that keeps nodes of a pool ready."""
    return f"warm-{pool}"


def without_work(pool: Pool) -> int:
    """Number of machines of a pool that are billed while nothing runs: reserved ones, or nodes that are kept ready if
    these are more. Nodes that are kept ready are on reserved machines first.
    """
    return max(reserved_machines(pool), pool.capacity.warm)


def autoscaler_tags(pool: Pool) -> dict[str, str]:
    """Azure tags from which the autoscaler reads what a node of an empty pool offers; empty for a pool that does not
    announce it.

    The autoscaler replaces the GPUs of the VM size by these amounts, and reads `_` as `/` (kubernetes/autoscaler,
    cloudprovider/azure/azure_template.go, extractAllocatableResourcesFromScaleSet). AKS gives a pool's tags to its
    scale set (AKS docs, use-tags).
    """
    if not pool.capacity.announced:
        return {}
    return {f"{RESOURCE_TAG}{name.replace('/', '_')}": str(count) for name, count in gpu_resources(pool).items()}


def _on_demand(settings: Settings, pool: Pool) -> list[str]:
    platform = pool.capacity.platform
    others = () if platform is None else serving(settings, platform)
    return [each for each in others if not settings.pools[each].is_spot]
