"""Costs other than nodes. The catalogue has no sourced price for them, so they are listed but not counted."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings import NodePool, Settings
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.outbound import outbound_facts
from physical_ai.settings.facts.pools import node_pools
from physical_ai.settings.facts.private_network import private_network
from workbench.costs.data_services import data_services
from workbench.costs.not_counted import NotCounted

_ADDRESS = "azure-native:network:PublicIPAddress"


def not_counted(settings: Settings) -> tuple[NotCounted, ...]:
    """All costs that the estimate of these settings omits."""
    return tuple(_all(settings))


def _all(settings: Settings) -> Iterator[NotCounted]:
    if not creates_cluster(settings):
        yield NotCounted(
            "the servers of the existing cluster, their power, network and storage: what its owner pays", ()
        )
        return
    # Cluster management of the Free tier is free (AKS docs, free-standard-pricing-tiers).
    if settings.cluster.tier != "Free":
        tier = settings.cluster.tier
        yield NotCounted(f"the control plane, tier {tier}", ("azure-native:containerservice:ManagedCluster",))
    # StandardV2 costs what Standard costs (Azure docs, nat-gateway/nat-sku, 2026).
    count = len(outbound_facts(settings).gateways)
    if count:
        gateways = "the NAT gateway" if count == 1 else f"{count} NAT gateways"
        yield NotCounted(f"{gateways}, per hour and per GB", ("azure-native:network:NatGateway",))
        yield NotCounted("its public address" if count == 1 else "their public addresses", (_ADDRESS,))
    yield from _private(settings)
    cap = settings.monitoring.daily_quota_gb
    amount = "no daily cap" if cap == -1 else f"at most {cap:g} GB per day"
    yield NotCounted(
        f"Log Analytics: data ingested ({amount}) and retained for {settings.monitoring.retention_days} days",
        ("azure-native:operationalinsights:Workspace",),
    )
    if settings.monitoring.metrics == "azure":
        samples = ("azure-native:monitor:AzureMonitorWorkspace", "azure-native:alertsmanagement:PrometheusRuleGroup")
        yield NotCounted("metrics: samples that are ingested, and that alerts and dashboards read", samples)
        if settings.monitoring.receivers:
            yield NotCounted("notifications of alerts", ("azure-native:monitor:ActionGroup",))
        if settings.monitoring.grafana.enabled:
            grafana = ("azure-native:dashboard:Grafana", "azure-native:dashboard:ManagedPrivateEndpoint")
            yield NotCounted("Managed Grafana, per hour and per active user", grafana)
    yield from data_services(settings)
    if managed := [name for name, pool in node_pools(settings).items() if has_managed_disk(pool)]:
        disks = f"managed OS disks of the nodes of {', '.join(managed)}"
        yield NotCounted(disks, ("azure-native:containerservice:AgentPool",))
    yield NotCounted("network traffic, and volumes and load balancers that workloads request", ())


def _private(settings: Settings) -> Iterator[NotCounted]:
    given = private_network(settings)
    if given is None:
        return
    private = ("azure-native:network:PrivateEndpoint", "azure-native:privatedns:PrivateZone")
    yield NotCounted("private endpoints, per hour and per GB, and private DNS zones", private)
    if given.resolver is not None:
        yield NotCounted("the endpoint of the DNS resolver, per hour", ("azure-native:dnsresolver:InboundEndpoint",))
    if given.vpn is not None:
        gateway = ("azure-native:network:VirtualNetworkGateway",)
        yield NotCounted(f"the VPN gateway {given.vpn.sku}, per hour and per client", gateway)
    if given.hub is not None:
        yield NotCounted("traffic through the peering, per GB", ("azure-native:network:VirtualNetworkPeering",))


def has_managed_disk(pool: NodePool) -> bool:
    """True if each node has an OS disk that is billed separately; an ephemeral disk is part of the VM."""
    return pool.os_disk.type == "Managed"
