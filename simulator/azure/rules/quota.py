"""vCPU quota of the subscription: in all, by family, and at low priority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids, pools
from simulator.azure.errors import Refusal
from simulator.azure.offers import Offers
from simulator.azure.rules.base import Pool, Put, on_pool, on_put, refuse
from simulator.azure.shapes import table

REGIONAL, LOW_PRIORITY = "cores", "lowPriorityCores"


def usage(spec: Mapping[str, Any], nodes: int, offers: Offers) -> Counter[str]:
    """vCPUs of each quota that this many nodes of a pool take."""
    size = offers.size(str(spec.get("vmSize")))
    if size is None:
        return Counter()
    vcpus = size.vcpus * nodes
    return Counter({LOW_PRIORITY: vcpus} if pools.is_spot(spec) else {size.family: vcpus, REGIONAL: vcpus})


@on_pool("quota-aks-vcpu", "quota-aks-spot")
def vcpus(pool: Pool) -> Iterator[Refusal]:
    """The nodes a pool asks for fit beside all others in the region."""
    world, used = pool.world, Counter[str]()
    for other in world.of_kind("AgentPool"):
        cluster = world.get(ids.parent(other.id), "ManagedCluster")
        mine = ids.same(other.id, f"{pool.cluster_id}/agentPools/{pool.name}")
        if cluster is None or mine or cluster.location != pool.location:
            continue
        used += usage(table(other.body, "properties"), int(other.facts.get("count", 0)), world.offers)
    wanted = usage(pool.spec, pools.initial_count(pool.spec), world.offers)
    for name, amount in wanted.items():
        left = world.limit(name) - used[name]
        if amount <= left or amount == 0:
            continue
        rule = "quota-aks-spot" if name == LOW_PRIORITY else "quota-aks-vcpu"
        which = {REGIONAL: "regional vcpu", LOW_PRIORITY: "low priority vcpu"}.get(name, f"{name} vcpu")
        message = f"Insufficient {which} quota left for location {pool.location}. left {which} quota {max(left, 0)},"
        message += f" requested quota {amount}. If you want to increase the quota, please follow this instruction:"
        message += " https://learn.microsoft.com/en-us/azure/quotas/view-quotas."
        yield refuse(pool, rule, message, "agentPoolProfile.count")


@on_put("PublicIPAddress", "quota-publicip")
def public_addresses(put: Put) -> Iterator[Refusal]:
    """Standard public addresses in the region, usage name `StandardSkuPublicIpAddresses`."""
    if put.old is not None:
        return
    used = len(list(put.world.of_kind("PublicIPAddress")))
    limit = put.world.limit("StandardSkuPublicIpAddresses")
    if used >= limit:
        message = f"Cannot create more than {limit} standard public IP addresses for this subscription in this region."
        yield refuse(put, "quota-publicip", message, code="StandardSkuPublicIPCountLimitReached")
