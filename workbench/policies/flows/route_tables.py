"""Routes that resources of a stack declare: those of route tables, and ranges of networks, peerings and gateways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from workbench.policies.flows.identity import id_of, of_type
from workbench.policies.flows.routing import EVERYWHERE, Origin, Route
from workbench.policies.model import Resource, known, known_list, known_map

ROUTE_TABLE, ROUTE = "azure-native:network:RouteTable", "azure-native:network:Route"
PEERING = "azure-native:network:VirtualNetworkPeering"
VIRTUAL_NETWORK, VPN_GATEWAY = "azure-native:network:VirtualNetwork", "azure-native:network:VirtualNetworkGateway"


def clients_of(gateway: Resource) -> Iterator[IPv4Network]:
    """Ranges of the clients of a VPN gateway."""
    pool = known_map(known_map(gateway.inputs.get("vpnClientConfiguration")).get("vpnClientAddressPool"))
    yield from (IPv4Network(str(text)) for text in known_list(pool.get("addressPrefixes")))


def users_routes(table: Resource, resources: Sequence[Resource]) -> Iterator[Route]:
    """The routes of a route table. Routes for IPv6 are left out."""
    rows = [(known_map(each), table) for each in known_list(table.inputs.get("routes"))]
    rows += [(dict(each.inputs), each) for each in of_type(resources, ROUTE) if _is_of(each, table)]
    for row, resource in rows:
        name = f"route {known(row.get('name') or row.get('routeName'), resource.name)} of {table.name}"
        text = str(known(row.get("addressPrefix"), ""))
        hop, address = str(known(row.get("nextHopType"), "")), str(known(row.get("nextHopIpAddress"), ""))
        try:
            yield Route(IPv4Network(text), hop, Origin.USER, name, address, resource)
        except ValueError:
            if text and ":" not in text:
                yield Route(EVERYWHERE, hop, Origin.USER, name, address, resource, tag=text)


def _is_of(route: Resource, table: Resource) -> bool:
    name = known(route.inputs.get("routeTableName"))
    return (id_of(name) == known(table.inputs.get("routeTableName"))) if name else table.urn in route.options.depends_on


def spaces_of(subnet: Resource, resources: Sequence[Resource]) -> Iterator[IPv4Network]:
    """Address ranges of the subnet's network."""
    for each in _networks(subnet, resources):
        for text in known_list(known_map(each.inputs.get("addressSpace")).get("addressPrefixes")):
            yield IPv4Network(str(text))


def _networks(child: Resource, resources: Sequence[Resource]) -> list[Resource]:
    """The network that a subnet or peering is part of; all networks if its name is not known yet."""
    every = of_type(resources, VIRTUAL_NETWORK)
    name = known(child.inputs.get("virtualNetworkName"))
    own = [each for each in every if name and known(each.inputs.get("virtualNetworkName")) == name]
    return own or ([] if name and len(every) > 1 else every)


def peered_with(subnet: Resource, resources: Sequence[Resource]) -> tuple[list[IPv4Network], list[str]]:
    """Ranges of the networks that the subnet's network is peered with, and names of peerings whose ranges are not
    known.
    """
    found: list[IPv4Network] = []
    unknown: list[str] = []
    networks = _networks(subnet, resources)
    for each in of_type(resources, PEERING):
        if not any(network in _networks(each, resources) for network in networks):
            continue
        keys = ("remoteVirtualNetworkAddressSpace", "remoteAddressSpace")
        lists = (known_list(known_map(each.inputs.get(key)).get("addressPrefixes")) for key in keys)
        ranges = [text for texts in lists for text in texts]
        found += [IPv4Network(str(text)) for text in ranges]
        unknown += [] if ranges else [each.name]
    return found, unknown
