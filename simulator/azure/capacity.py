"""Azure's capacity for VM sizes, and the effects on a node pool if the capacity does not suffice.

A PUT that exceeds a quota is refused at once. A lack of capacity shows only later: the PUT is accepted, the operation
ends Failed, and the pool keeps the nodes that it got. A later PUT adds the missing nodes if there is capacity then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.azure import ids, reserved
from simulator.azure.bodies import get
from simulator.azure.data import rules
from simulator.azure.errors import Refusal
from simulator.azure.registry import models
from simulator.azure.state import FAILED, KEPT, SUCCEEDED, AzureState, Resource

MESSAGE = (
    "Allocation failed. We do not have sufficient capacity for the requested VM size in this {place}. Read more about"
    " improving likelihood of allocation success at https://aka.ms/allocation-guidance"
)


def obtainable(pool_id: str, spec: Mapping[str, Any], wanted: int, held: int, azure: AzureState) -> int:
    """Number of nodes that a pool has after it has asked for `wanted` nodes. The pool keeps its `held` present nodes,
    and gets further nodes as far as Azure has capacity for the VM size, which others have not reserved.
    """
    most = azure.capacity.get(str(spec.get("vmSize")))
    if most is None or wanted <= held:
        return wanted
    return max(held, min(wanted, reserved.obtainable(pool_id, spec, most, azure)))


def outcome(resource: Resource, azure: AzureState) -> str:
    """Final state of an operation on a pool or cluster: Failed if the pool, or a pool of the cluster, lacks nodes or
    could not be drained; otherwise Succeeded.
    """
    return FAILED if any(_is_short(pool) or KEPT in pool.facts for pool in _pools(resource, azure)) else SUCCEEDED


@models("alloc-fail", "aks-async", "aks-pool-failed", "upgrade-drain")
def failure(resource: Resource, azure: AzureState) -> Refusal:
    """Reason why an accepted operation ended Failed."""
    for pool in _pools(resource, azure):
        if KEPT in pool.facts:
            rule = rules()["upgrade-drain"]
            return Refusal(rule.id, rule.status, rule.codes[0], str(pool.facts[KEPT]), flat=True)
    short = next(pool for pool in _pools(resource, azure) if _is_short(pool))
    spec, wanted = get(short.body, "properties"), int(short.facts["count"])
    if obtainable(short.id, spec, wanted, len(short.facts["addresses"]), azure) == wanted:
        rule, code = rules()["net-subnet-capacity"], "SubnetIsFull"
        message = f"The subnet of node pool {ids.name(short.id)} has no address left for {wanted} nodes."
    else:
        zonal = bool(get(short.body, "properties.availabilityZones"))
        rule, code = rules()["alloc-fail"], "ZonalAllocationFailed" if zonal else "AllocationFailed"
        message = MESSAGE.format(place="zone" if zonal else "region")
    return Refusal(rule.id, rule.status, code, message, flat=True)


def _pools(resource: Resource, azure: AzureState) -> list[Resource]:
    if resource.kind == "ManagedCluster":
        return [pool for pool in azure.children(resource.id, "AgentPool") if pool.inline]
    return [resource] if resource.kind == "AgentPool" else []


def _is_short(pool: Resource) -> bool:
    return len(pool.facts.get("addresses", ())) < int(pool.facts.get("count", 0))
