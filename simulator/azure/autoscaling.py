"""The pools that the cluster autoscaler scales, and Azure's answers to its requests for nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from simulator.azure import capacity, ids, nodes, puts, reserved
from simulator.azure.bodies import Json, get
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.rules.quota import shortages, usage
from simulator.azure.state import AzureState, Resource

Stage = Callable[[Resource | None, AzureState], Resource]
"""Function that changes a pool; its first argument is None if the pool does not exist."""


@dataclass(frozen=True)
class ScaledPool:
    """One autoscaled pool, as the cluster autoscaler sees it."""

    pool: str
    scale_set: str
    """Name of the pool in the autoscaler: `aks-h100gpu-12345678-vmss`."""
    least: int
    most: int
    count: int
    """Number of machines that Azure now runs for the pool."""
    spec: Json
    """The pool's properties with AKS's defaults."""
    sample: Json
    """Example of the pool's Node objects: the Node of instance 0 as it registers."""


def profile(cluster_id: str, azure: AzureState) -> Json:
    """`autoScalerProfile` of the cluster; empty if the cluster sets none."""
    cluster = azure.get(cluster_id, "ManagedCluster")
    return dict(get(cluster.body, "properties.autoScalerProfile", {})) if cluster else {}


def scaled_pools(cluster_id: str, azure: AzureState) -> Iterator[ScaledPool]:
    """The autoscaled pools of a cluster, ordered by name."""
    for pool in sorted(azure.children(cluster_id, "AgentPool"), key=lambda each: each.id):
        spec = puts.spec_of(pool, azure)
        if not spec.get("enableAutoScaling") or pool.state == "Deleting" or "version" not in pool.facts:
            continue
        sample = puts.nodes_of(pool, azure, {0: "192.0.2.1"})
        if sample:
            name = ids.name(pool.id)
            yield ScaledPool(
                pool=name,
                scale_set=nodes.scale_set(cluster_id, name),
                least=int(spec["minCount"]),
                most=int(spec["maxCount"]),
                count=len(puts.machines_of(pool.facts)),
                spec=spec,
                sample=sample[0],
            )


def staged(pool: Resource | None, count: int, azure: AzureState, without: Collection[int]) -> Resource:
    """The pool after its autoscaler has requested `count` nodes, kept within the pool's minimum and maximum.

    Raises:
        ValueError: the pool does not exist, or does not autoscale.
        ArmError: the subscription has no quota for more nodes.
    """
    spec: dict[str, Any] = puts.spec_of(pool, azure) if pool else {}
    if pool is None or pool.state == "Deleting" or not spec.get("enableAutoScaling"):
        raise ValueError(f"{ids.name(pool.id) if pool else 'it'} is not an autoscaled pool of the cluster")
    bounded = min(max(count, int(spec["minCount"])), int(spec["maxCount"]))
    cluster = azure.get(ids.parent(pool.id), "ManagedCluster")
    if cluster is not None and bounded > len(puts.machines_of(pool.facts)):
        wanted = usage(spec, reserved.beyond(pool.id, spec, bounded, azure), azure.offers)
        for _, message in shortages(pool.id, wanted, cluster.location, azure):
            raise ArmError(Refusal("quota-aks-vcpu", 400, "ErrCode_InsufficientVCPUQuota", message, flat=True))
    return puts.resized(pool, bounded, azure, without)


def allocation_failure(spec: Json) -> str:
    """Azure's message about an allocation that fails because Azure has no capacity for the pool's VM size."""
    return capacity.MESSAGE.format(place="zone" if spec.get("availabilityZones") else "region")
