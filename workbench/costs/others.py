"""Costs that depend on use, or whose price no source has: they are listed but not counted."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings import Settings
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.outbound import outbound_facts
from physical_ai.settings.facts.private_network import private_network
from workbench.costs.data_services import data_services
from workbench.costs.not_counted import NotCounted


def not_counted(settings: Settings) -> tuple[NotCounted, ...]:
    """All costs that the estimate of these settings omits."""
    return tuple(_all(settings))


def _all(settings: Settings) -> Iterator[NotCounted]:
    if not creates_cluster(settings):
        yield NotCounted(
            "the servers of the existing cluster, their power, network and storage: what its owner pays", ()
        )
        return
    # StandardV2 costs what Standard costs (Azure docs, nat-gateway/nat-sku, 2026).
    if outbound_facts(settings).gateways:
        yield NotCounted("data through NAT gateways, per GB", ())
    yield from _private(settings)
    yield NotCounted(f"logs kept for {settings.monitoring.retention_days} days, beyond the days that are free", ())
    if settings.monitoring.metrics == "azure":
        samples = ("azure-native:monitor:AzureMonitorWorkspace", "azure-native:alertsmanagement:PrometheusRuleGroup")
        yield NotCounted("metrics: samples that are ingested, and that alerts and dashboards read", samples)
        if settings.monitoring.receivers:
            yield NotCounted("notifications of alerts", ("azure-native:monitor:ActionGroup",))
        if settings.monitoring.grafana.enabled:
            grafana = ("azure-native:dashboard:Grafana", "azure-native:dashboard:ManagedPrivateEndpoint")
            yield NotCounted("Managed Grafana, per hour and per active user", grafana)
    yield from data_services(settings)
    yield NotCounted("network traffic, and volumes and load balancers that workloads request", ())


def _private(settings: Settings) -> Iterator[NotCounted]:
    given = private_network(settings)
    if given is None:
        return
    private = ("azure-native:network:PrivateEndpoint", "azure-native:privatedns:PrivateZone")
    yield NotCounted("private endpoints, per hour and per GB, and private DNS zones", private)
    if given.vpn is not None:
        yield NotCounted("traffic of VPN clients, per GB, and clients beyond those that the gateway includes", ())
    if given.hub is not None:
        yield NotCounted("traffic through the peering, per GB", ("azure-native:network:VirtualNetworkPeering",))
