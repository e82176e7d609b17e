"""Quota in vCPUs that a stack needs in its region, including the surge of upgrades. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from physical_ai.catalog import vm_size
from physical_ai.settings.facts.capacity import reserved_machines
from physical_ai.settings.facts.pools import node_pools, surge_nodes
from physical_ai.settings.models.node_pools import NodePool, Pool
from physical_ai.settings.models.tree import Settings

TOTAL = "cores"
LOW_PRIORITY = "lowPriorityCores"
"""Names of two Azure quotas (usages of Microsoft.Compute): `cores` counts all on-demand vCPUs of a region, and
`lowPriorityCores` all Spot vCPUs of a region.
"""


@dataclass(frozen=True)
class QuotaNeed:
    """vCPUs that a stack needs from one Azure quota (a usage of Microsoft.Compute)."""

    usage: str
    """`name.value` of the usage: `cores`, `lowPriorityCores`, or a family."""
    initial: int
    """vCPUs of the nodes with which the stack is created."""
    maximum: int
    """vCPUs of the largest number of nodes, including the surge of an upgrade."""
    pools: tuple[str, ...]
    sizes: tuple[str, ...] = field(default=(), compare=False)
    """VM sizes of the pools that count toward the usage."""


def quota_needs(settings: Settings, present: Mapping[str, int] | None = None) -> list[QuotaNeed]:
    """All usages that the stack's nodes count toward, `cores` and `lowPriorityCores` first.

    `present`: number of existing nodes by pool, which are not part of `initial`; None for a first deployment.

    Machines of a reservation have their quota, whether they run or not; nodes within it need none of their own
    (Azure docs, capacity-reservation-overview).

    On-demand nodes count toward their family and the region's total, Spot nodes toward the region's Spot total (AKS
    docs, quotas-skus-regions; Azure/karpenter-provider-azure, quota.go).
    """
    found: dict[str, QuotaNeed] = {}
    for name, pool in node_pools(settings).items():
        vcpus = vm_size(pool.sku).vcpus
        reserved = reserved_machines(pool) if isinstance(pool, Pool) else 0
        new = _new_nodes(pool, (present or {}).get(name))
        if present is None:
            new = max(new, reserved)
        initial, maximum = new * vcpus, max(pool.scale.most + surge_nodes(pool), reserved) * vcpus
        for usage in _usages(pool):
            before = found.get(usage, QuotaNeed(usage, 0, 0, ()))
            names, sizes = (*before.pools, name), tuple(dict.fromkeys((*before.sizes, pool.sku)))
            found[usage] = QuotaNeed(usage, before.initial + initial, before.maximum + maximum, names, sizes)
    order = [usage for usage in (TOTAL, LOW_PRIORITY) if usage in found]
    return [found[usage] for usage in [*order, *(usage for usage in found if usage not in order)]]


def _new_nodes(pool: NodePool, present: int | None) -> int:
    """Number of nodes that a deployment adds to a pool; 0 for an existing pool with autoscaling, because there the
    autoscaler adds nodes.
    """
    if present is None:
        return pool.scale.initial_count
    return 0 if pool.scale.is_autoscaled else max(pool.scale.initial_count - present, 0)


def _usages(pool: NodePool) -> Iterator[str]:
    if isinstance(pool, Pool) and pool.is_spot:
        yield LOW_PRIORITY
        return
    yield TOTAL
    yield vm_size(pool.sku).family
