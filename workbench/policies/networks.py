"""Rules on private networks: their resources are closed to the internet, and the resources' names resolve in the
network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.findings import Severity
from workbench.policies.data_services import PUBLIC_ACCESS
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map
from workbench.policies.node_pools import MANAGED_CLUSTER

PRIVATE_ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE_GROUP = "azure-native:network:PrivateDnsZoneGroup"
PRIVATE_ZONE = "azure-native:privatedns:PrivateZone"
ZONE_LINK = "azure-native:privatedns:VirtualNetworkLink"
ROUTE_TABLE, ROLE_ASSIGNMENT = "azure-native:network:RouteTable", "azure-native:authorization:RoleAssignment"
VPN_GATEWAY = "azure-native:network:VirtualNetworkGateway"

WORKSPACE = "azure-native:operationalinsights:Workspace"
METRICS_WORKSPACE = "azure-native:monitor:AzureMonitorWorkspace"
COLLECTION_ENDPOINT = "azure-native:monitor:DataCollectionEndpoint"
COLLECTION_RULE = "azure-native:monitor:DataCollectionRule"
SCOPED = "azure-native:monitor:PrivateLinkScopedResource"
GRAFANA = "azure-native:dashboard:Grafana"
SENT_TO: Mapping[str, str] = {
    COLLECTION_ENDPOINT: "networkAcls.publicNetworkAccess",
    WORKSPACE: "publicNetworkAccessForIngestion",
}
"""Types of resources that the private network sends data to, each with the property that disables public writes."""
READ_FROM: Mapping[str, str] = {
    WORKSPACE: "publicNetworkAccessForQuery",
    METRICS_WORKSPACE: "publicNetworkAccess",
    GRAFANA: "properties.publicNetworkAccess",
}
"""Types of resources that the private network reads from, each with the property that disables public reads."""

CLOSABLE: Mapping[str, str] = {**PUBLIC_ACCESS, "azure-native:redisenterprise:RedisEnterprise": "publicNetworkAccess"}
"""Types of services that can have private endpoints, each with the property that disables public network access."""


def _at(inputs: Mapping[str, Any], path: str) -> Any:
    value: Any = dict(inputs)
    for step in path.split("."):
        value = known_map(value).get(step)
    return known(value)


def _has_private_cluster(stack: Stack) -> bool:
    clusters = stack.of_type(MANAGED_CLUSTER)
    return any(_at(each.inputs, "apiServerAccessProfile.enablePrivateCluster") is True for each in clusters)


def _is_private(stack: Stack) -> bool:
    endpoints = stack.of_type(PRIVATE_ENDPOINT)
    return _has_private_cluster(stack) or any(known(each.inputs.get("privateEndpointName")) for each in endpoints)


def _closed(resource: Resource, stack: Stack) -> Iterable[Violation]:
    path = CLOSABLE[resource.type]
    if _is_private(stack) and _at(resource.inputs, path) not in ("Disabled", "SecuredByPerimeter"):
        yield Violation(path, "write Disabled: a private endpoint alone leaves the public one open")


def _monitor_closed(resource: Resource, stack: Stack) -> Iterable[Violation]:
    # A workspace that no agent sends to has the logs of the control plane, which Azure sends to it automatically.
    is_used = resource.type != WORKSPACE or bool(stack.of_type(COLLECTION_RULE))
    paths = [SENT_TO[resource.type]] if resource.type in SENT_TO and _is_private(stack) else []
    paths += [READ_FROM[resource.type]] if resource.type in READ_FROM and _has_private_cluster(stack) else []
    for path in paths if is_used else ():
        if _at(resource.inputs, path) not in ("Disabled", "SecuredByPerimeter"):
            yield Violation(path, "write Disabled, and connect it to a private link scope")


def _monitor_reachable(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if _at(resource.inputs, SENT_TO[resource.type]) == "Disabled" and not stack.of_type(SCOPED):
        yield Violation(SENT_TO[resource.type], "declare a PrivateLinkScopedResource for it, or write Enabled")


def _registered(resource: Resource, stack: Stack) -> Iterable[Violation]:
    own = known(resource.inputs.get("privateEndpointName"))
    groups = {known(each.inputs.get("privateEndpointName")) for each in stack.of_type(ZONE_GROUP)}
    # A name that is not known yet may be the name of this group.
    if own is not None and own not in groups and None not in groups:
        yield Violation("", "declare a PrivateDnsZoneGroup for it")


def _linked(resource: Resource, stack: Stack) -> Iterable[Violation]:
    own = known(resource.inputs.get("privateZoneName"))
    zones = {known(each.inputs.get("privateZoneName")) for each in stack.of_type(ZONE_LINK)}
    if own is not None and own not in zones and None not in zones:
        yield Violation("", "declare a VirtualNetworkLink for it")


def _vpn_login(resource: Resource, _: Stack) -> Iterable[Violation]:
    client = known_map(resource.inputs.get("vpnClientConfiguration"))
    if client and known_list(client.get("vpnAuthenticationTypes")) != ["AAD"]:
        yield Violation("vpnClientConfiguration.vpnAuthenticationTypes", "write [AAD]")


def _to_firewall(resource: Resource, _: Stack) -> Iterable[Violation]:
    for index, each in enumerate(known_list(resource.inputs.get("routes"))):
        route = known_map(each)
        hop = known(route.get("nextHopType"))
        if known(route.get("addressPrefix")) == "0.0.0.0/0" and hop not in (None, "VirtualAppliance"):
            yield Violation(f"routes[{index}].nextHopType", "write VirtualAppliance, with the firewall's address")


def _zone_before_cluster(resource: Resource, stack: Stack) -> Iterable[Violation]:
    access = known_map(resource.inputs.get("apiServerAccessProfile"))
    zone = known(access.get("privateDNSZone"), "system")
    if known(access.get("enablePrivateCluster")) is not True or zone in ("system", "none"):
        return
    roles = {each.urn for each in stack.of_type(ROLE_ASSIGNMENT)}
    if not roles & set(resource.options.depends_on):
        yield Violation("", "pass depends_on with the role of the cluster's identity on the zone")


RULES = (
    Rule(
        "routes-to-firewall",
        Severity.ERROR,
        "A default route to the internet passes by the firewall, which then filters and logs nothing.",
        _to_firewall,
        (ROUTE_TABLE,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/egress-udr",
    ),
    Rule(
        "zone-role-before-cluster",
        Severity.ERROR,
        "AKS checks the rights on the zone when it creates the cluster, and refuses without them.",
        _zone_before_cluster,
        (MANAGED_CLUSTER,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/aks/private-clusters",
        needs=("depends_on",),
        needs_whole_stack=True,
    ),
    Rule(
        "private-means-closed",
        Severity.ERROR,
        "In a stack with private endpoints or a private cluster, a service open to the internet is an oversight.",
        _closed,
        tuple(CLOSABLE),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/private-link/private-endpoint-overview",
        needs_whole_stack=True,
    ),
    Rule(
        "private-monitor-closed",
        Severity.ERROR,
        "Logs and metrics of a private stack are as private as its data: a leaked login reads them from anywhere.",
        _monitor_closed,
        tuple(dict.fromkeys((*SENT_TO, *READ_FROM))),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/azure-monitor/fundamentals/private-link-security",
        needs_whole_stack=True,
    ),
    Rule(
        "private-monitor-scoped",
        Severity.ERROR,
        "What is closed to the internet and in no private link scope receives nothing, and reports no error.",
        _monitor_reachable,
        tuple(SENT_TO),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/azure-monitor/fundamentals/private-link-configure",
        needs_whole_stack=True,
    ),
    Rule(
        "private-endpoint-registered",
        Severity.ERROR,
        "Without a record in a private zone the service's name leads to its public address, which is closed.",
        _registered,
        (PRIVATE_ENDPOINT,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/private-link/private-endpoint-dns",
        needs_whole_stack=True,
    ),
    Rule(
        "private-zone-linked",
        Severity.ERROR,
        "A private zone answers only in the networks that it is linked to.",
        _linked,
        (PRIVATE_ZONE,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/dns/private-dns-virtual-network-links",
        needs_whole_stack=True,
    ),
    Rule(
        "vpn-entra-only",
        Severity.ERROR,
        "A client certificate that leaks lets anyone in until it is revoked; Entra checks each login.",
        _vpn_login,
        (VPN_GATEWAY,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/vpn-gateway/point-to-site-entra-gateway",
    ),
)
