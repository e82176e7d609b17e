"""Subnets and addresses of a stack's network, other than the nodes' subnets, in the modes hybrid and private.

Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from physical_ai.catalog.private_link import (
    API_SERVER_DELEGATION,
    GATEWAY_SUBNET,
    RESOLVER_DELEGATION,
    api_server_zone,
)
from physical_ai.settings.facts.naming import subnet_name
from physical_ai.settings.facts.network_access import private_api_server, private_endpoints
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.private_network import PrivateNetwork
from physical_ai.settings.models.tree import Settings

ENDPOINTS, API_SERVER, RESOLVER, GATEWAY = "private-endpoints", "api-server", "dns-resolver", "gateway"
"""Keys of the subnets for private endpoints, the API server, the DNS resolver and the VPN gateway.

The keys cannot collide with names of pools, which have no hyphen; Azure prescribes the name of the gateway's subnet.
"""
MOST_SUBZONE = 32
"""Maximum number of characters in the first label of a cluster's subdomain, in the API server's DNS zone (AKS docs,
private-clusters).
"""
PRIVATE: Path = ("network", "private")

IMMUTABLE_CLUSTER_PROPERTIES = (
    "apiServerAccessProfile.enablePrivateCluster",
    "apiServerAccessProfile.enableVnetIntegration",
    "apiServerAccessProfile.privateDNSZone",
    "apiServerAccessProfile.subnetId",
)
"""Properties of a cluster that AKS fixes at creation.

The provider would try to change them in place, so they are in `replace_on_changes`. AKS accepts some of these changes
on clusters with API server VNet integration (AKS docs, private-clusters, update DNS; api-server-vnet-integration,
existing clusters), but a replacement always works.
"""


@dataclass(frozen=True)
class ServiceSubnet:
    """A subnet without nodes."""

    key: str
    path: Path
    """Path of the subnet's setting."""
    name: str
    """Name of the subnet in Azure."""
    cidr: IPv4Network
    largest_prefix: int
    """Longest prefix length that Azure accepts for the subnet, which is the length for the smallest possible subnet."""
    delegation: str | None = None
    """Azure service to which the subnet is delegated."""
    has_security_group: bool = True


def private_network(settings: Settings) -> PrivateNetwork | None:
    """Settings of the private network that are in effect; None in the mode public, even if such settings exist."""
    return settings.private if private_endpoints(settings) else None


def service_subnets(settings: Settings) -> tuple[ServiceSubnet, ...]:
    """Subnets of endpoints, API server, resolver and gateway; only subnets that the stack has."""
    given = private_network(settings)
    if given is None:
        return ()
    found = [ServiceSubnet(ENDPOINTS, (*PRIVATE, "endpointSubnet"), subnet_name(ENDPOINTS), given.endpoint_subnet, 28)]
    if given.api_server.subnet is not None and private_api_server(settings):
        path: Path = (*PRIVATE, "apiServer", "subnet")
        name, cidr = subnet_name(API_SERVER), given.api_server.subnet
        found.append(ServiceSubnet(API_SERVER, path, name, cidr, 28, API_SERVER_DELEGATION))
    if given.resolver is not None:
        path = (*PRIVATE, "resolver", "subnet")
        name, cidr = subnet_name(RESOLVER), given.resolver.subnet
        found.append(ServiceSubnet(RESOLVER, path, name, cidr, 28, RESOLVER_DELEGATION))
    if given.vpn is not None:
        path = (*PRIVATE, "vpn", "gatewaySubnet")
        # The gateway's subnet has no security group, which could cut the gateway off (Azure docs,
        # vpn-gateway-about-vpn-gateway-settings).
        found.append(ServiceSubnet(GATEWAY, path, GATEWAY_SUBNET, given.vpn.gateway_subnet, 27, None, False))
    return tuple(found)


def resolver_address(private: PrivateNetwork) -> str | None:
    """Address of the resolver's inbound endpoint: the first one in its subnet that Azure does not reserve.

    The address is static, so that the network can have it as its DNS server before the resolver exists.
    """
    return str(private.resolver.subnet[4]) if private.resolver is not None else None


def dns_servers(settings: Settings) -> tuple[str, ...]:
    """DNS servers of the network: the hub's, or the resolver if VPN clients need it; empty for Azure's own.

    A VPN gateway passes them on to its clients, which cannot reach Azure's own resolver.
    """
    given = private_network(settings)
    if given is None:
        return ()
    if given.hub is not None and given.hub.dns_servers:
        return tuple(map(str, given.hub.dns_servers))
    address = resolver_address(given)
    return (address,) if given.vpn is not None and address is not None else ()


def has_way_in(private: PrivateNetwork) -> bool:
    """True if somebody outside the network can reach the network, or if the deployment runs inside of it."""
    return private.vpn is not None or private.hub is not None or private.runners_inside


def own_api_zone(settings: Settings) -> str | None:
    """Name of the private DNS zone that the stack creates for its API server; None where AKS creates the zone, or no
    zone is used.

    Each stack has a subdomain of its own, because a hub network cannot be linked to two zones with the same name.
    """
    given = private_network(settings)
    if given is None or not private_api_server(settings) or given.api_server.dns_zone != "stack":
        return None
    zone = api_server_zone(settings.region, integrated=is_integrated(settings))
    return f"{settings.stack[:MOST_SUBZONE].rstrip('-')}.{zone}"


def existing_api_zone(settings: Settings) -> str | None:
    """Id of an existing zone for the API server; None where the stack or AKS creates the zone, or none is used."""
    given = private_network(settings)
    if given is None or not private_api_server(settings) or "/" not in given.api_server.dns_zone:
        return None
    return given.api_server.dns_zone


def assigns_zone_role(settings: Settings) -> bool:
    """True where the deployment assigns the cluster's identity its role on the API server's zone."""
    given = private_network(settings)
    return given is not None and (existing_api_zone(settings) is None or given.api_server.zone_role == "assign")


def is_integrated(settings: Settings) -> bool:
    """True where the API server has addresses in the virtual network itself."""
    given = private_network(settings)
    return given is not None and private_api_server(settings) and given.api_server.form == "vnetIntegration"


def uses_firewall(settings: Settings) -> bool:
    """True where nodes reach the internet through a firewall, so that the stack has no NAT gateways."""
    given = private_network(settings)
    return given is not None and given.firewall is not None


def linked_to_hub(settings: Settings) -> bool:
    """True where the stack's zones are linked to the hub's network, whose DNS servers answer for them."""
    given = private_network(settings)
    return given is not None and given.hub is not None and bool(given.hub.dns_servers)


def existing_zones(settings: Settings) -> str | None:
    """Id of the resource group with existing zones of data services; None if the stack uses no existing zones."""
    given = private_network(settings)
    return given.hub.dns_zones if given is not None and given.hub is not None else None
