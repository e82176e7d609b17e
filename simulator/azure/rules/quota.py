"""vCPU quotas of the subscription: regional, by VM family, and low-priority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids, pools, reserved
from simulator.azure.bodies import table
from simulator.azure.counted import COUNTED, exhausted
from simulator.azure.errors import Refusal
from simulator.azure.offers import Offers, location
from simulator.azure.rules.base import Pool, Put, on_pool, on_put, refuse
from simulator.azure.state import AzureState

REGIONAL, LOW_PRIORITY = "cores", "lowPriorityCores"
_COUNT_RULES: Mapping[str, str] = {
    "PublicIPAddress": "quota-publicip",
    "StorageAccount": "quota-storage-count",
    "ManagedCluster": "quota-cluster-count",
}
"""Id of the rule on the number of resources, by kind; the kinds that are not listed belong to Microsoft.Network."""


def usage(spec: Mapping[str, Any], nodes: int, offers: Offers) -> Counter[str]:
    """vCPUs that this many nodes of a pool use, by quota."""
    size = str(spec.get("vmSize"))
    if offers.size(size) is None:
        return Counter()
    vcpus, family = offers.vcpus(size) * nodes, offers.quota_family(size)
    own = {family: vcpus} if family else {}
    return Counter({LOW_PRIORITY: vcpus} if pools.is_spot(spec) else {**own, REGIONAL: vcpus})


@on_pool("quota-aks-vcpu", "quota-aks-spot")
def vcpus(pool: Pool) -> Iterator[Refusal]:
    """Refusals of a pool whose nodes, together with all other nodes in the region, would exceed a quota."""
    pool_id = f"{pool.cluster_id}/agentPools/{pool.name}"
    nodes = reserved.beyond(pool_id, pool.spec, pools.initial_count(pool.spec), pool.azure)
    wanted = usage(pool.spec, nodes, pool.azure.offers)
    for name, message in shortages(pool_id, wanted, pool.location, pool.azure):
        rule = "quota-aks-spot" if name == LOW_PRIORITY else "quota-aks-vcpu"
        yield refuse(pool, rule, message, "agentPoolProfile.count")


def shortages(own_id: str, wanted: Mapping[str, int], place: str, azure: AzureState) -> Iterator[tuple[str, str]]:
    """The quotas that are too small for a pool or a reservation with `wanted` further vCPUs, each with Azure's
    message.
    """
    used = used_by_others(own_id, place, azure)
    for name, amount in wanted.items():
        left = azure.limit(name) - used[name]
        if amount <= left or amount == 0:
            continue
        which = {REGIONAL: "regional vcpu", LOW_PRIORITY: "low priority vcpu"}.get(name, f"{name} vcpu")
        message = f"Insufficient {which} quota left for location {place}. left {which} quota {max(left, 0)},"
        message += f" requested quota {amount}. If you want to increase the quota, please follow this instruction:"
        message += " https://learn.microsoft.com/en-us/azure/quotas/view-quotas."
        yield name, message


def used_by_others(pool_id: str, place: str, azure: AzureState) -> Counter[str]:
    """vCPUs that the nodes of all other pools in a region use, and those of unused reserved machines, by quota."""
    used = Counter[str]()
    for other in azure.of_kind("AgentPool"):
        cluster = azure.get(ids.parent(other.id), "ManagedCluster")
        if cluster is None or ids.same(other.id, pool_id) or cluster.location != place:
            continue
        used += usage(table(other.body, "properties"), int(other.facts.get("count", 0)), azure.offers)
    for size, machines in reserved.held(place, azure, pool_id):
        used += usage({"vmSize": size}, machines, azure.offers)
    return used


@on_put(
    tuple(dict.fromkeys(each.kind for rows in COUNTED.values() for each in rows.values())),
    *("quota-publicip", "quota-network-count", "quota-storage-count", "quota-cluster-count"),
)
def counts(put: Put) -> Iterator[Refusal]:
    """Refusals of a resource beyond the limit on the number of its kind in a region."""
    if put.old is not None:
        return
    place = location(str(put.body.get("location", "")))
    for name, counted, most in exhausted(put.kind, place, put.azure):
        rule = _COUNT_RULES.get(put.kind, "quota-network-count")
        message = f"Cannot create more than {most} {name} for this subscription in this region."
        if put.kind == "StorageAccount":
            subscription = put.azure.directory.subscription
            message = (
                f"Subscription {subscription} already contains {most} storage accounts in location {place} and the"
            )
            message += f" maximum number of allowed accounts is {most}."
        yield refuse(put, rule, message, code=counted.code)
