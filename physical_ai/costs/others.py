"""What Azure bills besides nodes. The catalogue has no sourced price for any of it, so it is named and not counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from physical_ai.settings import NodePool, Settings
from physical_ai.settings.facts.pools import node_pools


@dataclass(frozen=True)
class NotCounted:
    """Something with a price on Azure's bill, and the resource types it comes with."""

    what: str
    types: tuple[str, ...]


def not_counted(settings: Settings) -> tuple[NotCounted, ...]:
    """Everything the estimate of these settings leaves out."""
    return tuple(_all(settings))


def _all(settings: Settings) -> Iterator[NotCounted]:
    # Cluster management of the Free tier is free (AKS docs, free-standard-pricing-tiers).
    if settings.cluster.tier != "Free":
        tier = settings.cluster.tier
        yield NotCounted(f"the control plane, tier {tier}", ("azure-native:containerservice:ManagedCluster",))
    yield NotCounted("the NAT gateway, by the hour and by the GB", ("azure-native:network:NatGateway",))
    yield NotCounted("its public address", ("azure-native:network:PublicIPAddress",))
    cap = settings.monitoring.daily_quota_gb
    amount = "no daily cap" if cap == -1 else f"{cap:g} GB a day at most"
    yield NotCounted(
        f"Log Analytics: what is taken in ({amount}) and kept for {settings.monitoring.retention_days} days",
        ("azure-native:operationalinsights:Workspace",),
    )
    if managed := [name for name, pool in node_pools(settings).items() if has_managed_disk(pool)]:
        disks = f"managed OS disks of the nodes of {', '.join(managed)}"
        yield NotCounted(disks, ("azure-native:containerservice:AgentPool",))
    yield NotCounted("network traffic, and volumes and load balancers that workloads ask for", ())


def has_managed_disk(pool: NodePool) -> bool:
    """Whether each node has an OS disk that is billed for itself; an ephemeral one is part of the VM."""
    return pool.os_disk.type == "Managed"
