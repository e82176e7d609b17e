"""Managed cluster rules on a private API server: its subnet, its zone, and whether the nodes can resolve its name."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.rules.cluster_access import JOIN, control_plane_principal
from simulator.azure.rules.pool_subnets import prefixes

AKS = "Microsoft.ContainerService/managedClusters"
JOIN_NETWORK = "Microsoft.Network/virtualNetworks/join/action"
SMALLEST_SUBNET = 28
AT = "properties.apiServerAccessProfile"


def _network(put: Put) -> str | None:
    """Id of the virtual network of the cluster's nodes."""
    for profile in items(put.properties, "agentPoolProfiles"):
        if isinstance(profile.get("vnetSubnetID"), str):
            return ids.parent(profile["vnetSubnetID"])
    return None


@on_put("ManagedCluster", "mc-vnet-integration")
def api_server_subnet(put: Put) -> Iterator[Refusal]:
    access: dict[str, Any] = table(put.properties, "apiServerAccessProfile")
    reference = access.get("subnetId")
    if not access.get("enableVnetIntegration"):
        if reference:
            yield refuse(put, "mc-vnet-integration", "subnetId needs enableVnetIntegration.", f"{AT}.subnetId")
        return
    subnet, network = put.azure.get(reference, "Subnet"), _network(put)
    if network is None:
        return
    if subnet is None:
        message = f"The API server's subnet '{reference}' was not found."
        yield refuse(put, "mc-vnet-integration", message, f"{AT}.subnetId")
        return
    services = [get(each, "properties.serviceName") for each in items(subnet.body, "properties.delegations")]
    if services != [AKS]:
        message = f"Subnet {ids.name(subnet.id)} is not delegated to {AKS}."
        yield refuse(put, "mc-vnet-integration", message, f"{AT}.subnetId")
    if any(ipaddress.ip_network(text).prefixlen > SMALLEST_SUBNET for text in prefixes(subnet)):
        message = f"The API server's subnet must be a /{SMALLEST_SUBNET} or larger."
        yield refuse(put, "mc-vnet-integration", message, f"{AT}.subnetId")
    if not ids.same(ids.parent(subnet.id), network):
        message = "The API server's subnet is in another virtual network than the nodes."
        yield refuse(put, "mc-vnet-integration", message, f"{AT}.subnetId")
    principal = control_plane_principal(put)
    if principal and not put.azure.allowed(principal, JOIN, subnet.id):
        message = f"The client '{principal}' does not have permission to perform action '{JOIN}' on '{subnet.id}'."
        yield refuse(put, "net-subnet-perm", message, f"{AT}.subnetId")


@on_put("ManagedCluster", "mc-private-dns-exists", "mc-private-dns-link-perm")
def own_zone(put: Put) -> Iterator[Refusal]:
    zone, network = get(put.properties, "apiServerAccessProfile.privateDNSZone"), _network(put)
    if not isinstance(zone, str) or "/" not in zone:
        return
    if put.azure.get(zone, "PrivateDnsZone") is None and not put.azure.of_others(zone):
        yield refuse(put, "mc-private-dns-exists", f"Zone '{zone}' was not found.", f"{AT}.privateDNSZone")
    principal = control_plane_principal(put)
    if principal and network and not put.azure.allowed(principal, JOIN_NETWORK, network):
        message = f"The cluster identity (object id {principal}) lacks {JOIN_NETWORK} on {network}, which linking the"
        message += " private DNS zone needs. A fresh role assignment needs minutes to work."
        yield refuse(put, "mc-private-dns-link-perm", message, f"{AT}.privateDNSZone")


@on_put("ManagedCluster", "mc-private-dns-lookup")
def nodes_find_the_api_server(put: Put) -> Iterator[Refusal]:
    """Refusals of a private cluster whose nodes cannot resolve the API server's name. DNS servers in another network
    resolve the cluster's zone only if the zone is linked to their network.
    """
    access: dict[str, Any] = table(put.properties, "apiServerAccessProfile")
    network = put.azure.get(_network(put), "VirtualNetwork")
    zone = str(access.get("privateDNSZone") or "system")
    if network is None or not access.get("enablePrivateCluster") or zone == "none":
        return
    servers = set(items(network.body, "properties.dhcpOptions.dnsServers"))
    inside = {
        str(each.get("privateIpAddress"))
        for endpoint in put.azure.of_kind("InboundEndpoint")
        for each in items(endpoint.body, "properties.ipConfigurations")
        if ids.same(ids.parent(str(get(each, "subnet.id"))), network.id)
    }
    links = put.azure.children(zone, "VirtualNetworkLink")
    elsewhere = any(not ids.same(get(link.body, "properties.virtualNetwork.id"), network.id) for link in links)
    # The owner of the DNS servers links a zone that is not of this stack.
    is_theirs = "/" in zone and put.azure.get(zone) is None and put.azure.of_others(zone)
    if servers - inside and not elsewhere and not is_theirs:
        message = f"Agents are unable to resolve the API server's name: the DNS servers {', '.join(sorted(servers))} of"
        message += f" network {ids.name(network.id)} cannot resolve the zone '{ids.name(zone)}'."
        yield refuse(put, "mc-private-dns-lookup", message, f"{AT}.privateDNSZone")
