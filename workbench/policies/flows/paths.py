"""Search for the connections of a flow in a stack. The source and target of a flow are looked up in this module
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from workbench.policies.flows import api_server, images
from workbench.policies.flows.azure_services import KINDS
from workbench.policies.flows.balancers import Balancer
from workbench.policies.flows.declared import PARTIES, Flow
from workbench.policies.flows.hops import (
    FOREIGN,
    among_nodes,
    by_group,
    by_policies,
    chosen,
    is_needed,
    out,
    to_api_server,
)
from workbench.policies.flows.identity import named, of_type
from workbench.policies.flows.monitors import TYPES as MONITORS
from workbench.policies.flows.monitors import scraped
from workbench.policies.flows.names import INBOUND_ENDPOINT, gateway_name
from workbench.policies.flows.network_policies import API_SERVER
from workbench.policies.flows.parties import INTERNET, Address, Entity, Party, Pod, Source
from workbench.policies.flows.security_groups import PRIVATE, PUBLIC
from workbench.policies.flows.service_ways import to_service, to_services
from workbench.policies.flows.verdicts import Hops, Verdict, best, worst
from workbench.policies.flows.ways import Way
from workbench.policies.flows.world import Subnet, World
from workbench.policies.model import known_list, known_map

BALANCERS = {"public-balancers": False, "internal-balancers": True}
SUBNETS, RESOLVER = "subnets", "resolver"
SERVICES = frozenset(kind for kind, _ in KINDS.values())
HTTPS = 443
ANYWHERE = Address("8.8.8.8")
"""An arbitrary public address that does not belong to Azure."""


def ways(world: World, flow: Flow) -> Iterator[Way]:
    """The connections of the flow in the stack; none if the stack lacks one of the flow's ends."""
    if not _applies(world, flow):
        return
    if flow.target in TO:
        yield from TO[flow.target](world, flow)
    elif flow.target in SERVICES:
        yield from to_services(world, flow)
    elif flow.source == "internet":
        yield from _from_internet(world, flow)
    elif flow.source in PARTIES and world.has(flow.source) and world.has(flow.target):
        ends = [(one, other) for one in world.members(flow.source) for other in world.members(flow.target)]
        for port in flow.ports:
            hops = chosen(flow, (_between(world, flow, one, other, port) for one, other in ends))
            yield Way(flow.target, port, hops)


def _applies(world: World, flow: Flow) -> bool:
    found = PARTIES.get(flow.target)
    if not flow.where or not isinstance(found, Pod):
        return True
    if flow.where == "isolated":
        return world.is_isolated(found)
    monitors = (each for target in MONITORS for each in scraped(world.resources, target, PARTIES))
    return any(
        each.pod.namespace == found.namespace and each.pod.labels and each.pod.labels.items() <= found.labels.items()
        for each in monitors
    )


def _between(world: World, flow: Flow, source: Party, target: Party, port: int) -> Hops:
    """Hops from a Pod or a node to another Pod or node, to the API server, or to an address outside of the cluster."""
    policies = by_policies(world, source, target, port, flow.protocol)
    if isinstance(target, Address):
        return (*policies, *out(world, flow, target, port))
    if target == Entity(API_SERVER):
        return (*policies, *to_api_server(world, flow, port))
    if source == Entity(API_SERVER):
        return policies  # the request comes through AKS's tunnel, from a Pod on a node (AKS docs, core-aks-concepts)
    return (*policies, *among_nodes(world, flow, source, target, port))


def _from_internet(world: World, flow: Flow) -> Iterator[Way]:
    if PARTIES[flow.target] == Entity(API_SERVER) and world.api_server is not None:
        yield Way(flow.target, api_server.PORT, (world.api_server.lets_in_anybody(),), world.cluster)


def _sources(world: World, client: str) -> tuple[Source, ...]:
    return (INTERNET,) if client == "internet" else world.private_clients


def _to_balancers(world: World, flow: Flow) -> Iterator[Way]:
    for each in world.balancers:
        if each.internal is not BALANCERS[flow.target]:
            continue
        # If source ranges are set, only their addresses have to reach the balancer.
        own = each.sources if is_needed(flow) and each.sources else _sources(world, flow.source)
        for port in each.ports if own else ():
            yield Way(each.name, port, _balancer(world, each, own, port, flow), each.resource)


def _balancer(world: World, balancer: Balancer, sources: Iterable[Source], port: int, flow: Flow) -> Hops:
    if not balancer.floating:
        return (Verdict(None, "ports of nodes, which Kubernetes chooses", balancer.resource),)
    wholly = is_needed(flow)
    if balancer.internal and not wholly:
        return (Verdict(False, f"no public address of {balancer.name}", balancer.resource),)
    if not world.node_subnets:
        return (Verdict(None, FOREIGN, balancer.resource),)
    target = PRIVATE if balancer.internal else PUBLIC
    passes: list[Hops] = [
        (by_group(each, source, port, target, wholly=wholly), *each.leaves.answers(source))
        for each in world.node_subnets
        for source in sources
    ]
    found = worst(passes) if wholly else best(passes)
    return (*gateway_name(balancer.resource, world.resources), *found) if balancer.internal else found


def _to_subnets(world: World, flow: Flow) -> Iterator[Way]:
    """Connections from clients outside of the cluster to public addresses in the subnets that have a security group."""
    for port in flow.ports:
        for subnet in world.subnets:
            if subnet.group is None:
                continue
            found: list[Hops] = [
                (subnet.group.lets_in(each, port, PUBLIC, wholly=False),) for each in _sources(world, flow.source)
            ]
            found += list(_through_firewalls(world, flow, subnet, port))
            if found:
                yield Way(subnet.resource.name, port, best(found), subnet.resource)


def _through_firewalls(world: World, flow: Flow, subnet: Subnet, port: int) -> Iterator[Hops]:
    """Hops of connections from the internet to a subnet through DNAT rules of firewalls. The firewall replaces the
    client's address by its own, which is in a virtual network.
    """
    for firewall in world.firewalls if flow.source == "internet" and subnet.group is not None else ():
        assert subnet.group is not None
        for leads in firewall.leads_to(subnet.cidr, port, flow.protocol):
            yield (leads, subnet.group.lets_in(subnet.cidr, port, subnet.cidr, wholly=False))


def _to_resolver(world: World, flow: Flow) -> Iterator[Way]:
    """Connections from clients of the network to the stack's DNS resolver, which has its own subnet."""
    for endpoint in of_type(world.resources, INBOUND_ENDPOINT):
        for given in known_list(endpoint.inputs.get("ipConfigurations")):
            reference = known_map(given).get("subnet")
            subnets = (each for each in world.subnets if named(reference, endpoint, [each.resource], "subnetName"))
            for subnet, source in ((each, source) for each in subnets for source in _sources(world, flow.source)):
                for port in flow.ports if subnet.group is not None else ():
                    assert subnet.group is not None
                    passes = subnet.group.lets_in(
                        source, port, subnet.cidr, wholly=is_needed(flow), protocol=flow.protocol
                    )
                    yield Way(endpoint.name, port, (passes, *subnet.leaves.answers(source)), endpoint)


def _to_monitors(world: World, flow: Flow) -> Iterator[Way]:
    for each in scraped(world.resources, flow.target, PARTIES):
        if each.port is None:
            yield Way(
                each.name, 0, (Verdict(None, "the number of a named port of a chart", each.resource),), each.resource
            )
            continue
        port, ends = each.port, world.selected(each.pod)
        pairs = [(one, other) for one in world.members(flow.source) for other in ends]
        hops = chosen(flow, (_between(world, flow, one, other, port) for one, other in pairs))
        yield Way(each.name, port, hops, each.resource)


def _to_images(world: World, flow: Flow) -> Iterator[Way]:
    """Connections to the registries of the charts' images. If an admission policy rewrites all images to the stack's
    registry, the connections lead to the stack's registry instead.
    """
    closed = images.renaming(world.resources)
    for host, names in images.pulled(world.resources).items():
        if closed is None:
            yield Way(host, HTTPS, out(world, flow, ANYWHERE, HTTPS, host=host))
            continue
        cached = images.has(host, names, world.resources)
        for registry in world.of_kind("registry"):
            yield Way(host, HTTPS, (cached, *to_service(world, flow, Entity("node"), registry)), registry.resource)


TO: dict[str, Callable[[World, Flow], Iterator[Way]]] = {
    **dict.fromkeys(BALANCERS, _to_balancers),
    **dict.fromkeys(MONITORS, _to_monitors),
    SUBNETS: _to_subnets,
    RESOLVER: _to_resolver,
    images.TARGET: _to_images,
}
