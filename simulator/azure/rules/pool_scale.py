"""Node pool rules on counts, autoscaling, Spot, and the one system pool that a cluster must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Delete, Pool, Put, on_delete, on_pool, on_put, pools_after, refuse

MOST_NODES = 1000
MOST_POOLS = 100
MOST_CLUSTER_NODES = 5000


@on_pool("pool-count-user", "pool-count-system")
def count(pool: Pool) -> Iterator[Refusal]:
    wanted = pool.spec.get("count", 1)
    least = 1 if pool.is_system else 0
    if not least <= wanted <= MOST_NODES:
        rule = "pool-count-system" if pool.is_system else "pool-count-user"
        message = (
            f"The value of parameter agentPoolProfile.count is invalid: {wanted} is outside {least}..{MOST_NODES}."
        )
        yield refuse(pool, rule, message, "agentPoolProfile.count")


@on_pool(
    "pool-min-le-count",
    "pool-min-le-max",
    "pool-autoscale-needs-minmax",
    "pool-minmax-without-autoscale",
    "pool-min0-user-only",
    "pool-max1000",
)
def autoscaling(pool: Pool) -> Iterator[Refusal]:
    least, most = pool.sent.get("minCount"), pool.sent.get("maxCount")
    if not pool.spec.get("enableAutoScaling"):
        if least is not None or most is not None:
            message = "minCount and maxCount can only be set when enableAutoScaling is true."
            yield refuse(pool, "pool-minmax-without-autoscale", message, "agentPoolProfile.enableAutoScaling")
        return
    if least is None or most is None:
        message = "minCount and maxCount are required when enableAutoScaling is true."
        yield refuse(pool, "pool-autoscale-needs-minmax", message, "agentPoolProfile.minCount")
        return
    if least > most:
        message = f"minCount ({least}) must not be greater than maxCount ({most})."
        yield refuse(pool, "pool-min-le-max", message, "agentPoolProfile.minCount")
    elif not _repeats_count(pool) and not least <= pool.spec["count"] <= most:
        message = f"count ({pool.spec['count']}) must lie between minCount ({least}) and maxCount ({most})."
        yield refuse(pool, "pool-min-le-count", message, "agentPoolProfile.count")
    if pool.is_system and least < 1:
        message = "A System pool needs a minCount of at least 1."
        yield refuse(pool, "pool-min0-user-only", message, "agentPoolProfile.minCount")
    if most > MOST_NODES:
        message = f"maxCount ({most}) is greater than {MOST_NODES}."
        yield refuse(pool, "pool-max1000", message, "agentPoolProfile.maxCount")


def _repeats_count(pool: Pool) -> bool:
    """True if the request repeats the initial node count of an autoscaled pool.

    Assumed, not verified: ARM accepts a new minimum or maximum with such a count, and the autoscaler enforces it later
    (Azure/AKS#1758, AKS engineer, 2020-08).
    """
    old = pool.old
    return old is not None and bool(old["enableAutoScaling"]) and old["count"] == pool.spec["count"]


@on_pool("pool-scale-and-autoscale")
def one_owner_of_the_count(pool: Pool) -> Iterator[Refusal]:
    """Refusals of a PUT that both turns autoscaling on and changes the node count."""
    if pool.old is None or pool.old["enableAutoScaling"] or not pool.spec["enableAutoScaling"]:
        return
    if pool.old["count"] != pool.spec["count"]:
        message = "Cannot manually scale and enable cluster autoscaler in the same update operation on VMSS Agentpool"
        message += f" '{pool.name}': it has {pool.old['count']} nodes, the request says {pool.spec['count']}."
        yield refuse(pool, "pool-scale-and-autoscale", message, "agentPoolProfile.count")


@on_pool("spot-user-only", "system-regular")
def spot_mode(pool: Pool) -> Iterator[Refusal]:
    if pool.is_spot and pool.is_system:
        message = f"System pool {pool.name} must have scaleSetPriority Regular."
        yield refuse(pool, "system-regular", message, "agentPoolProfile.scaleSetPriority")
    elif pool.is_spot and not pool.siblings and pool.put.kind == "ManagedCluster":
        message = f"Pool {pool.name} is the only pool of the cluster and cannot be Spot."
        yield refuse(pool, "spot-user-only", message, "agentPoolProfile.scaleSetPriority")


@on_pool("spot-no-maxsurge", "spot-no-maxunavailable", "spot-no-upgrade-settings", "spot-type-explicit", "spot-no-crg")
def spot(pool: Pool) -> Iterator[Refusal]:
    if not pool.is_spot:
        return
    if get(pool.sent, "upgradeSettings.maxSurge") is not None:
        message = "Spot pools can't set max surge."
        yield refuse(pool, "spot-no-maxsurge", message, "agentPoolProfile.upgradeSettings.maxSurge")
    if get(pool.sent, "upgradeSettings.maxUnavailable") is not None:
        message = "Spot pools can't set max unavailable."
        yield refuse(pool, "spot-no-maxunavailable", message, "agentPoolProfile.upgradeSettings.maxUnavailable")
    for name, value in table(pool.sent, "upgradeSettings").items():
        if name not in ("maxSurge", "maxUnavailable") and value is not None:
            message = f"Spot pools can't set {name}: they have no upgrade settings."
            yield refuse(pool, "spot-no-upgrade-settings", message, f"agentPoolProfile.upgradeSettings.{name}")
    if pool.sent.get("type") is None:
        message = "Spot pools can't set max surge. (Without a type AKS fills in upgrade settings; send"
        message += " VirtualMachineScaleSets.)"
        yield refuse(pool, "spot-type-explicit", message, "agentPoolProfile.upgradeSettings.maxSurge")
    if pool.sent.get("capacityReservationGroupID"):
        message = "Capacity reservation groups do not support Spot VMs."
        yield refuse(pool, "spot-no-crg", message, "agentPoolProfile.capacityReservationGroupID")


@on_pool("spot-vmss-only", "spot-size")
def spot_machines(pool: Pool) -> Iterator[Refusal]:
    if not pool.is_spot:
        return
    size = pool.azure.offers.size(str(pool.spec.get("vmSize")))
    if size is not None and not size.low_priority:
        message = f"VM size {size.name} is not available at low priority and cannot be Spot."
        yield refuse(pool, "spot-size", message, "agentPoolProfile.vmSize")
    if pool.spec["type"] == "AvailabilitySet":
        yield refuse(pool, "spot-vmss-only", "Spot pools need VirtualMachineScaleSets.", "agentPoolProfile.type")


@on_pool("eviction-needs-spot", "spotprice-needs-spot", "spot-price-range")
def spot_only_properties(pool: Pool) -> Iterator[Refusal]:
    price = pool.sent.get("spotMaxPrice")
    if not pool.is_spot:
        if pool.sent.get("scaleSetEvictionPolicy") is not None:
            message = "scaleSetEvictionPolicy can only be set when scaleSetPriority is Spot."
            yield refuse(pool, "eviction-needs-spot", message, "agentPoolProfile.scaleSetEvictionPolicy")
        if price not in (None, -1):
            message = "spotMaxPrice can only be set when scaleSetPriority is Spot."
            yield refuse(pool, "spotprice-needs-spot", message, "agentPoolProfile.spotMaxPrice")
    elif price is not None and price != -1 and (price <= 0 or round(price, 5) != price):
        message = f"spotMaxPrice {price} must be -1 or greater than zero with at most five decimals."
        yield refuse(pool, "spot-price-range", message, "agentPoolProfile.spotMaxPrice")


@on_put(("ManagedCluster", "AgentPool"), "system-at-least-one", "first-inline-pool-system")
def keeps_a_system_pool(put: Put) -> Iterator[Refusal]:
    cluster_id = put.id if put.kind == "ManagedCluster" else ids.parent(put.id)
    cluster = put.body if put.kind == "ManagedCluster" else getattr(put.azure.get(cluster_id), "body", None)
    if cluster is None:
        return
    after = pools_after(put, cluster, cluster_id)
    if not any(spec.get("mode") == "System" for spec in after.values()):
        creating = put.kind == "ManagedCluster" and put.old is None
        rule = "first-inline-pool-system" if creating else "system-at-least-one"
        yield refuse(put, rule, "There has to be at least one system agent pool.")


@on_delete("AgentPool", "aks-delete-last-system")
def last_system_pool(delete: Delete) -> Iterator[Refusal]:
    others = [
        pool
        for pool in delete.azure.children(ids.parent(delete.id), "AgentPool")
        if not ids.same(pool.id, delete.id) and get(pool.body, "properties.mode") == "System"
    ]
    if not others:
        yield refuse(delete, "aks-delete-last-system", "There has to be at least one system agent pool.")


@on_put(("ManagedCluster", "AgentPool"), "pool-limit", "cluster-node-limit")
def limits(put: Put) -> Iterator[Refusal]:
    cluster_id = put.id if put.kind == "ManagedCluster" else ids.parent(put.id)
    others = [p for p in put.azure.children(cluster_id, "AgentPool") if not ids.same(p.id, put.id)]
    mine: list[Any] = (
        items(put.body, "properties.agentPoolProfiles") if put.kind == "ManagedCluster" else [put.properties]
    )
    names = {ids.name(pool.id) for pool in others} | {str(p.get("name", put.id)) for p in mine}
    if len(names) > MOST_POOLS:
        yield refuse(put, "pool-limit", f"{len(names)} agent pools; a cluster has at most {MOST_POOLS}.")
    sent = {str(p.get("name", "")) for p in mine}
    nodes = sum(int(p.get("count") or 1) for p in mine)
    nodes += sum(int(p.facts.get("count", 0)) for p in others if ids.name(p.id) not in sent)
    if nodes > MOST_CLUSTER_NODES:
        yield refuse(put, "cluster-node-limit", f"{nodes} nodes; a cluster has at most {MOST_CLUSTER_NODES}.")
