"""The hops of a flow, and whether each lets it pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from physical_ai.policies.flows.azure_services import KINDS, Service, endpoint_ranges
from physical_ai.policies.flows.balancers import Balancer
from physical_ai.policies.flows.declared import PARTIES, Flow, Required
from physical_ai.policies.flows.network_policies import decide
from physical_ai.policies.flows.parties import INTERNET, Address, Party, Pod, Source
from physical_ai.policies.flows.security_groups import PRIVATE, PUBLIC
from physical_ai.policies.flows.verdicts import Verdict, all_of, any_of
from physical_ai.policies.flows.world import Subnet, World
from physical_ai.policies.model import Resource

CLIENTS = ("internet", "private-clients")
BALANCERS = {"public-balancers": False, "internal-balancers": True}
SUBNETS = "subnets"
SERVICES = frozenset(kind for kind, _ in KINDS.values())
SOMEWHERE = Address("20.42.0.4")
"""An address of Azure's that is no one's in particular: public endpoints have addresses of the internet."""


@dataclass(frozen=True)
class Way:
    """One connection of a flow: to one port of one target. `resource` stands for the target."""

    target: str
    port: int
    verdict: Verdict
    resource: Resource | None = None


def ways(world: World, flow: Flow) -> Iterator[Way]:
    """Each connection of the flow in the stack; none where it has not both ends."""
    if flow.isolated and not _is_isolated(world, flow.target):
        return
    if flow.target in BALANCERS:
        yield from _to_balancers(world, flow)
    elif flow.target == SUBNETS:
        yield from _to_subnets(world, flow)
    elif flow.target in SERVICES:
        yield from _to_services(world, flow)
    elif world.has(flow.source) and world.has(flow.target):
        target = PARTIES[flow.target]
        for port in flow.ports:
            yield Way(flow.target, port, _policies(world, PARTIES[flow.source], target, port, flow.protocol))


def _is_isolated(world: World, party: str) -> bool:
    found = PARTIES.get(party)
    return isinstance(found, Pod) and world.is_isolated(found.namespace)


def _policies(world: World, source: Party, target: Party, port: int, protocol: str = "TCP") -> Verdict:
    found = decide(world.policies, source, target, port, protocol)
    if found.by is not None:
        metadata = world.policies[found.by]["metadata"]
        by = f"NetworkPolicy {metadata['name']} of {metadata['namespace']}"
        return Verdict(found.allowed, by, world.policy_resources[found.by])
    ends = [each.namespace for each in (source, target) if isinstance(each, Pod)]
    resource = next((world.namespaces[each] for each in ends if each in world.namespaces), None)
    return Verdict(found.allowed, f"no NetworkPolicy of {' and '.join(ends)}", resource)


def _sources(world: World, client: str) -> tuple[Source, ...]:
    return (INTERNET,) if client == "internet" else world.private_clients


def _to_balancers(world: World, flow: Flow) -> Iterator[Way]:
    for each in world.balancers:
        if each.internal is not BALANCERS[flow.target]:
            continue
        # With ranges, nobody else has to come in.
        own = each.sources if flow.must is Required.OPEN and each.sources else _sources(world, flow.source)
        for port in each.ports if own else ():
            yield Way(each.name, port, _balancer(world, each, own, port, flow), each.resource)


def _balancer(world: World, balancer: Balancer, sources: Iterable[Source], port: int, flow: Flow) -> Verdict:
    if not balancer.floating:
        return Verdict(None, "ports of nodes, which Kubernetes chooses", balancer.resource)
    wholly = flow.must is Required.OPEN
    if balancer.internal and not wholly:
        return Verdict(False, f"no public address of {balancer.name}", balancer.resource)
    target = PRIVATE if balancer.internal else PUBLIC
    nodes = [each for each in world.subnets if each.has_nodes]
    passes = [_group(each, source, port, target, wholly=wholly) for each in nodes for source in sources]
    return all_of(passes) if wholly else any_of(passes)


def _group(subnet: Subnet, source: Source, port: int, target: str, *, wholly: bool) -> Verdict:
    if subnet.group is None:
        return Verdict(True, f"no security group of {subnet.resource.name}", subnet.resource)
    return subnet.group.lets_in(source, port, target, wholly=wholly)


def _to_subnets(world: World, flow: Flow) -> Iterator[Way]:
    """Anything in the subnets, whatever address leads there."""
    for port in flow.ports:
        for subnet in world.subnets:
            if subnet.group is None:
                continue
            found = [subnet.group.lets_in(each, port, PUBLIC, wholly=False) for each in _sources(world, flow.source)]
            if found:
                yield Way(subnet.resource.name, port, any_of(found), subnet.resource)


def _to_services(world: World, flow: Flow) -> Iterator[Way]:
    for each in world.of_kind(flow.target):
        if flow.source == "internet":
            yield Way(each.name, each.port, each.lets_in_anybody(), each.resource)
        elif world.has(flow.source):
            yield Way(each.name, each.port, _to_service(world, PARTIES[flow.source], each), each.resource)


def _to_service(world: World, source: Party, service: Service) -> Verdict:
    """By the public endpoint, as the address of the nodes, or by a private one."""
    public = all_of([service.lets_in_nodes(), _policies(world, source, SOMEWHERE, service.port)])
    return any_of([public, *(_privately(world, source, service, each) for each in _endpoints(world, service))])


def _endpoints(world: World, service: Service) -> list[Subnet]:
    ranges = {each.resource.urn: each.cidr for each in world.subnets}
    found = endpoint_ranges(service, ranges)
    return [each for each in world.subnets if each.cidr in found]


def _privately(world: World, source: Party, service: Service, subnet: Subnet) -> Verdict:
    leaves = _policies(world, source, Address(str(_some(subnet.cidr))), service.port)
    if not subnet.filters_endpoints:
        return leaves
    nodes = [each.cidr for each in world.subnets if each.has_nodes]
    return all_of([leaves, *(_group(subnet, each, service.port, PRIVATE, wholly=True) for each in nodes)])


def _some(cidr: IPv4Network) -> object:
    """An address that Azure gives an endpoint: it keeps the first four."""
    return cidr[4]
