"""Connections to Azure services: through public endpoints, or through private endpoints and their names."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from workbench.policies.flows.azure_services import HOSTS, TAGS, Service
from workbench.policies.flows.declared import Flow
from workbench.policies.flows.firewalls import Packet
from workbench.policies.flows.hops import SOMEWHERE, by_group, by_policies, chosen, is_needed, of_nodes, out
from workbench.policies.flows.identity import named
from workbench.policies.flows.names import leads_to
from workbench.policies.flows.parties import Address, Party
from workbench.policies.flows.verdicts import Hops, best
from workbench.policies.flows.ways import CLIENTS, Way
from workbench.policies.flows.world import Subnet, World
from workbench.policies.model import Resource


def to_services(world: World, flow: Flow) -> Iterator[Way]:
    for each in world.of_kind(flow.target):
        if flow.source == "internet":
            yield Way(each.name, each.port, (each.lets_in_anybody(),), each.resource)
        elif flow.source in CLIENTS:
            yield from _from_clients(world, flow, each)
        elif world.has(flow.source):
            hops = chosen(flow, (to_service(world, flow, source, each) for source in world.members(flow.source)))
            yield Way(each.name, each.port, hops, each.resource)


def _from_clients(world: World, flow: Flow, service: Service) -> Iterator[Way]:
    """Connections from clients in connected networks: through a private endpoint if there is one, else through the
    public endpoint.
    """
    private: list[Hops] = []
    for endpoint in service.endpoints:
        name = leads_to(endpoint, world.resources)
        private += [
            (name, by_group(subnet, source, service.port, subnet.cidr, wholly=is_needed(flow)))
            for subnet in _subnets_of(world, endpoint)
            for source in world.private_clients
        ]
    if world.private_clients:
        yield Way(service.name, service.port, best([*private, (service.lets_in_anybody(),)]), service.resource)


def to_service(world: World, flow: Flow, source: Party, service: Service) -> Hops:
    """Hops to a service: through the private endpoint that its name resolves to, or through the public endpoint with
    the nodes' address.

    A flow that must be closed has to be closed through both endpoints, since a client can use an address without
    resolving the service's name.
    """
    policies = by_policies(world, source, SOMEWHERE, service.port)
    public = (
        *policies,
        *out(world, flow, SOMEWHERE, service.port, TAGS[service.kind], HOSTS[service.kind]),
        service.lets_in_nodes(),
    )
    found = [(each, leads_to(each, world.resources)) for each in service.endpoints]
    private: list[Hops] = []
    for endpoint, name in found:
        for subnet in _subnets_of(world, endpoint):
            hops = _privately(world, flow, source, service, subnet)
            private.append((name, *hops) if is_needed(flow) else hops)
    if not is_needed(flow):
        return best([public, *private])
    if private and any(name.open for _, name in found):
        return best(private)
    return best([*private, public])


def _subnets_of(world: World, endpoint: Resource) -> list[Subnet]:
    return [
        each for each in world.subnets if named(endpoint.inputs.get("subnet"), endpoint, [each.resource], "subnetName")
    ]


def _privately(world: World, flow: Flow, source: Party, service: Service, subnet: Subnet) -> Hops:
    leaves = by_policies(world, source, Address(str(_some(subnet.cidr))), service.port)
    wholly = is_needed(flow)

    def way(nodes: Subnet) -> Hops:
        out: Hops = (nodes.group.lets_out(nodes.cidr, subnet.cidr, service.port, wholly=wholly),) if nodes.group else ()
        if subnet.routes_endpoints:
            # A route replaces that of an endpoint if its prefix is at least as long as the network's (Azure docs,
            # private-link/disable-private-endpoint-network-policy).
            longest = max((each.prefixlen for each in subnet.leaves.spaces if subnet.cidr.subnet_of(each)), default=0)
            packet = Packet(nodes.cidr, subnet.cidr, service.port, "TCP", "", wholly)
            out = (*out, *nodes.leaves.inside(packet, longest))
        if not subnet.filters_endpoints:
            return out
        return (*out, by_group(subnet, nodes.cidr, service.port, subnet.cidr, wholly=wholly))

    return (*leaves, *of_nodes(world, flow, way))


def _some(cidr: IPv4Network) -> object:
    """The first address that Azure can give to an endpoint in the subnet `cidr`. Azure reserves the four addresses
    before it.
    """
    return cidr[4]
