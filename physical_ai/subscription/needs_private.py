"""Actions that the network modes hybrid and private need in the stack's own subscription."""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import managed
from physical_ai.settings.facts.gateway_dns import gateway_record
from physical_ai.settings.facts.monitor_link import monitor_link
from physical_ai.settings.facts.private_network import own_api_zone, private_network, uses_firewall

_NETWORK = "Microsoft.Network"
_ZONES = f"{_NETWORK}/privateDnsZones"
_JOIN, _PEER = f"{_NETWORK}/virtualNetworks/join/action", f"{_NETWORK}/virtualNetworks/peer/action"

ZONES: Mapping[str, tuple[str, ...]] = {
    "azure-native:privatedns:PrivateZone": (f"{_ZONES}/write",),
    "azure-native:privatedns:VirtualNetworkLink": (f"{_ZONES}/virtualNetworkLinks/write", _JOIN),
}
NAMES: Mapping[str, tuple[str, ...]] = {
    "azure-native:privatedns:PrivateRecordSet": (f"{_ZONES}/A/write",),
}
DATA_APPROVALS = (
    "Microsoft.DBforPostgreSQL/flexibleServers/privateEndpointConnectionsApproval/action",
    "Microsoft.Cache/redisEnterprise/privateEndpointConnectionsApproval/action",
    "Microsoft.Storage/storageAccounts/privateEndpointConnectionsApproval/action",
    "Microsoft.KeyVault/vaults/privateEndpointConnectionsApproval/action",
    "Microsoft.ContainerRegistry/registries/privateEndpointConnectionsApproval/action",
)
_SCOPES = "Microsoft.Insights/privateLinkScopes"
SCOPE_APPROVALS = (f"{_SCOPES}/privateEndpointConnectionsApproval/action",)
METRICS_APPROVALS = ("Microsoft.Monitor/accounts/privateEndpointConnectionsApproval/action",)
GRAFANA_APPROVALS = ("Microsoft.Dashboard/grafana/privateEndpointConnectionsApproval/action",)
_ENDPOINT = "azure-native:network:PrivateEndpoint"
ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    _ENDPOINT: (f"{_NETWORK}/privateEndpoints/write",),
    "azure-native:network:PrivateDnsZoneGroup": (
        f"{_NETWORK}/privateEndpoints/privateDnsZoneGroups/write",
        f"{_ZONES}/join/action",
    ),
}
"""Actions that create private endpoints. An endpoint works at once only if its creator may also approve the connection
(Azure docs, private-link/rbac-permissions); `_approvals` has the actions for that.
"""
RESOLVER: Mapping[str, tuple[str, ...]] = {
    "azure-native:dnsresolver:DnsResolver": (f"{_NETWORK}/dnsResolvers/write",),
    "azure-native:dnsresolver:InboundEndpoint": (f"{_NETWORK}/dnsResolvers/inboundEndpoints/write",),
}
VPN: Mapping[str, tuple[str, ...]] = {
    "azure-native:network:VirtualNetworkGateway": (f"{_NETWORK}/virtualNetworkGateways/write",),
}
PEERING: Mapping[str, tuple[str, ...]] = {
    "azure-native:network:VirtualNetworkPeering": (
        f"{_NETWORK}/virtualNetworks/virtualNetworkPeerings/write",
        _PEER,
    ),
}
FIREWALL: Mapping[str, tuple[str, ...]] = {
    "azure-native:network:RouteTable": (f"{_NETWORK}/routeTables/write", f"{_NETWORK}/routeTables/join/action"),
}
MONITOR: Mapping[str, tuple[str, ...]] = {
    "azure-native:monitor:DataCollectionEndpoint": ("Microsoft.Insights/dataCollectionEndpoints/write",),
    "azure-native:monitor:DataCollectionRuleAssociation": ("Microsoft.Insights/dataCollectionRuleAssociations/write",),
}
SCOPE: Mapping[str, tuple[str, ...]] = {
    "azure-native:monitor:PrivateLinkScope": (f"{_SCOPES}/write",),
    "azure-native:monitor:PrivateLinkScopedResource": (f"{_SCOPES}/scopedResources/write",),
}
GRAFANA: Mapping[str, tuple[str, ...]] = {
    "azure-native:dashboard:ManagedPrivateEndpoint": ("Microsoft.Dashboard/grafana/managedPrivateEndpoints/write",),
}
PRIVATE_ACTIONS: Mapping[str, tuple[str, ...]] = {
    **ZONES,
    **NAMES,
    **ENDPOINTS,
    **RESOLVER,
    **VPN,
    **PEERING,
    **FIREWALL,
    **MONITOR,
    **SCOPE,
    **GRAFANA,
}
"""Actions by resource type, for every type that a private network can have."""


def private_actions(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Actions that a stack needs in its own subscription for private networks, and for a private DNS zone that the
    stack creates for its gateway's name. Keys are resource types; empty if the stack has neither.
    """
    given, record = private_network(settings), gateway_record(settings)
    names = {**ZONES, **NAMES} if record is not None and record.resource_group is None else {}
    if given is None:
        return names
    approvals, link = _approvals(settings), monitor_link(settings)
    own_zones = bool(approvals) and (given.hub is None or given.hub.dns_zones is None)
    endpoints = {**ENDPOINTS, _ENDPOINT: (*ENDPOINTS[_ENDPOINT], *approvals)}
    return {
        **names,
        **(ZONES if own_zones or own_api_zone(settings) is not None else {}),
        **(endpoints if approvals else {}),
        **(MONITOR if link is not None else {}),
        **(SCOPE if link is not None and link.scope is None else {}),
        **(GRAFANA if set(GRAFANA_APPROVALS) <= set(approvals) else {}),
        **(RESOLVER if given.resolver is not None else {}),
        **(VPN if given.vpn is not None else {}),
        **(PEERING if given.hub is not None else {}),
        **(FIREWALL if uses_firewall(settings) else {}),
    }


def _approvals(settings: Settings) -> tuple[str, ...]:
    """Actions that approve the private endpoint connections of the stack's services; empty if the stack has no such
    endpoints.
    """
    link, monitoring = monitor_link(settings), settings.monitoring
    found = DATA_APPROVALS if managed(settings) is not None else ()
    if link is not None and link.scope is None:
        found += SCOPE_APPROVALS
    if link is not None and link.reads_inside_only and monitoring.metrics == "azure":
        found += METRICS_APPROVALS + (GRAFANA_APPROVALS if monitoring.grafana.enabled else ())
    return found
