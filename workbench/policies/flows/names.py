"""DNS resolution of an Azure service's name to its private endpoint.

A zone group writes the endpoint's address into private DNS zones. Only networks with a link to a zone can resolve its
records (Azure docs, private-endpoint-dns). If a network uses DNS servers in a hub network, these servers resolve the
zones that are linked to the hub network.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from workbench.policies.flows.identity import id_of, last_part, named, of_type
from workbench.policies.flows.verdicts import Verdict, all_of
from workbench.policies.gateway import RELEASE, gateway_section
from workbench.policies.model import Resource, known, known_list, known_map

ZONE_GROUP = "azure-native:network:PrivateDnsZoneGroup"
ZONE, LINK = "azure-native:privatedns:PrivateZone", "azure-native:privatedns:VirtualNetworkLink"
RECORD = "azure-native:privatedns:PrivateRecordSet"
VIRTUAL_NETWORK = "azure-native:network:VirtualNetwork"
INBOUND_ENDPOINT = "azure-native:dnsresolver:InboundEndpoint"


def leads_to(endpoint: Resource, resources: Sequence[Resource]) -> Verdict:
    """Verdict on DNS: do the nodes resolve the service's name to the endpoint's address?"""
    for group in of_type(resources, ZONE_GROUP):
        if not _is_of(group, endpoint):
            continue
        zones = [
            known_map(each).get("privateDnsZoneId") for each in known_list(group.inputs.get("privateDnsZoneConfigs"))
        ]
        return all_of(zone_is_seen(each, group, resources) for each in zones)
    return Verdict(False, f"no private DNS zone of {endpoint.name}", endpoint)


def _is_of(group: Resource, endpoint: Resource) -> bool:
    name = known(group.inputs.get("privateEndpointName"))
    own = known(endpoint.inputs.get("privateEndpointName"))
    return name == own if name and own else endpoint.urn in group.options.depends_on


def zone_is_seen(zone_id: Any, source: Resource, resources: Sequence[Resource]) -> Verdict:
    """Verdict on DNS: do the nodes resolve names in the zone that `source` refers to by `zone_id`?"""
    zones = of_type(resources, ZONE)
    identifier = id_of(zone_id)
    if identifier is None:
        # The id is not known yet: the nodes must resolve names in every zone that the source depends on.
        found = [each for each in zones if each.urn in source.options.depends_on]
        return all_of(_is_linked(each, resources) for each in found)
    zone = named(zone_id, source, zones, "privateZoneName")
    if zone is None:
        return Verdict(None, f"links of the zone {last_part(zone_id)}, which is not of the stack", source)
    return _is_linked(zone, resources)


def gateway_name(balancer: Resource, resources: Sequence[Resource]) -> tuple[Verdict, ...]:
    """Verdicts on DNS: do clients resolve the name of OSMO's gateway? There is one verdict for each record in a private
    zone, and one for each private zone that lacks the record; empty if there are neither, or if `balancer` is not the
    release of OSMO's chart.
    """
    if balancer.type != RELEASE:
        return ()
    records, zones = of_type(resources, RECORD), of_type(resources, ZONE)
    host = str(known(gateway_section(balancer)[1].get("hostname"), ""))
    found: list[Verdict] = []
    for record in records:
        zone = next((each for each in zones if _is_in(record, each)), None)
        name = known(record.inputs.get("privateZoneName"), record.name)
        foreign = Verdict(None, f"links of the zone {name}, which is not of the stack", record)
        found.append(foreign if zone is None else _is_linked(zone, resources))
    missing = [each for each in zones if _covers(each, host) and not any(_is_in(record, each) for record in records)]
    return (*found, *(Verdict(False, f"no record of {host} in its zone {each.name}", each) for each in missing))


def _covers(zone: Resource, host: str) -> bool:
    name = known(zone.inputs.get("privateZoneName"))
    return bool(host and name) and f".{host}".endswith(f".{name}")


def _is_linked(zone: Resource, resources: Sequence[Resource]) -> Verdict:
    networks = of_type(resources, VIRTUAL_NETWORK)
    links = [each for each in of_type(resources, LINK) if _is_in(each, zone)]
    network_links = [each for each in links if any(_leads(each, network) for network in networks)]
    foreign = next((each for each in networks if _foreign_servers(each)), None)
    name = known(zone.inputs.get("privateZoneName"), zone.name)
    for network, server in ((each, server) for each in networks for server in _silent_servers(each, resources)):
        return Verdict(False, f"no DNS resolver at {server}, the DNS server of {network.name}", network)
    if foreign is None:
        if network_links:
            return Verdict(True, f"link {network_links[0].name} of the zone {name}", network_links[0])
        return Verdict(False, f"no link of the zone {name} to the network", zone)
    others = [each for each in links if each not in network_links]
    servers = ", ".join(_foreign_servers(foreign))
    if others:
        return Verdict(True, f"link {others[0].name} of the zone {name}, for the DNS servers {servers}", others[0])
    return Verdict(None, f"the DNS servers {servers}, and the zones that they see", foreign)


def _is_in(link: Resource, zone: Resource) -> bool:
    name, own = known(link.inputs.get("privateZoneName")), known(zone.inputs.get("privateZoneName"))
    return name == own if name and own else zone.urn in link.options.depends_on


def _leads(link: Resource, network: Resource) -> bool:
    return named(link.inputs.get("virtualNetwork"), link, [network], "virtualNetworkName") is network


def _foreign_servers(network: Resource) -> list[str]:
    """DNS servers outside of the network itself; empty if the network uses Azure's DNS, or a resolver inside it."""
    return [each for each in _servers(network) if not _is_inside(each, network)]


def _silent_servers(network: Resource, resources: Sequence[Resource]) -> list[str]:
    """DNS servers of a network whose addresses are inside the network, but do not belong to a DNS resolver of the
    stack.
    """
    endpoints = [
        known(known_map(each).get("privateIpAddress"))
        for endpoint in of_type(resources, INBOUND_ENDPOINT)
        for each in known_list(endpoint.inputs.get("ipConfigurations"))
    ]
    # An address that Azure chooses is not known in a preview, and may be the searched one.
    inside = [each for each in _servers(network) if _is_inside(each, network)]
    return [] if None in endpoints else [each for each in inside if each not in endpoints]


def _servers(network: Resource) -> list[str]:
    return [str(each) for each in known_list(known_map(network.inputs.get("dhcpOptions")).get("dnsServers"))]


def _is_inside(address: str, network: Resource) -> bool:
    spaces = known_list(known_map(network.inputs.get("addressSpace")).get("addressPrefixes"))
    return any(IPv4Address(address) in IPv4Network(str(space)) for space in spaces)
