"""Hops of a connection: NetworkPolicies, security groups, routes to the internet, and the API server's authorized
ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv4Network

from workbench.policies.flows.api_server import HOST
from workbench.policies.flows.declared import MADE_BY, Flow, Required
from workbench.policies.flows.firewalls import Packet
from workbench.policies.flows.network_policies import Engine, decide
from workbench.policies.flows.parties import Address, Entity, Party, Pod, Source, network_of
from workbench.policies.flows.security_groups import AZURE, PLATFORM
from workbench.policies.flows.verdicts import Hops, Verdict, best, worst
from workbench.policies.flows.world import Subnet, World

SOMEWHERE = Address("20.42.0.4")
"""An arbitrary address of Azure, in place of the unknown address of a public endpoint."""
FOREIGN = "the network under the cluster, which is not of the stack"


def is_needed(flow: Flow) -> bool:
    return flow.must in (Required.OPEN, Required.ASKED)


def chosen(flow: Flow, ways: Iterable[Hops]) -> Hops:
    """Hops of the way that decides about a flow: the worst way if the flow must be open, because every way must be
    open; the best way if the flow must be closed, because every way must be closed.
    """
    found = list(ways)
    return worst(found) if is_needed(flow) else best(found)


def by_policies(world: World, source: Party, target: Party, port: int, protocol: str = "TCP") -> Hops:
    """One hop with the verdict of the NetworkPolicies on a connection; empty if neither end of the connection is a
    Pod.
    """
    ends = list(dict.fromkeys(each.namespace for each in (source, target) if isinstance(each, Pod)))
    if not ends:
        return ()
    if world.ground.engine is Engine.NONE and world.policies:
        return (Verdict(True, "networkPolicy none: nothing enforces NetworkPolicies", world.cluster),)
    found = decide(world.policies, source, target, port, protocol, world.ground)
    if found.by is not None:
        metadata = world.policies[found.by]["metadata"]
        by = f"NetworkPolicy {metadata['name']} of {metadata['namespace']}"
        if found.allowed is None:
            by = f"the network plugin, and its reading of {by}"
        return (Verdict(found.allowed, by, world.policy_resources[found.by]),)
    creators = [MADE_BY.get(each, each) for each in ends]
    resource = next((world.namespaces[each] for each in creators if each in world.namespaces), None)
    return (Verdict(found.allowed, f"no NetworkPolicy of {' and '.join(ends)}", resource),)


def of_nodes(world: World, flow: Flow, way: Callable[[Subnet], Hops]) -> Hops:
    """Hops that decide about a flow from or to nodes. The function `way` returns the hops for one subnet; `chosen`
    selects among the results for all subnets with nodes. Empty if no subnet has nodes.
    """
    found = [way(each) for each in world.node_subnets]
    return chosen(flow, found) if found else ()


def among_nodes(world: World, flow: Flow, source: Party, target: Party, port: int, *, routed: bool = True) -> Hops:
    """Hops with the verdicts of security groups and routes on a connection between nodes or Pods. Both apply within a
    subnet, too.

    Args:
        routed: False for a target that route tables do not apply to.
    """

    def range_of(party: Party, subnet: Subnet) -> IPv4Network:
        return world.pod_range if isinstance(party, Pod) and world.pod_range is not None else subnet.cidr

    def way(subnet: Subnet) -> Hops:
        on_the_way = _routed(world, flow, subnet, port, target) if routed else ()
        if subnet.group is None:
            return on_the_way
        start, end, wholly = range_of(source, subnet), range_of(target, subnet), is_needed(flow)
        leaves = subnet.group.lets_out(start, end, port, wholly=wholly, protocol=flow.protocol)
        arrives = subnet.group.lets_in(start, port, end, wholly=wholly, protocol=flow.protocol)
        return (leaves, *on_the_way, arrives)

    return of_nodes(world, flow, way)


def _routed(world: World, flow: Flow, subnet: Subnet, port: int, target: Party) -> Hops:
    """Hops by the routes of a subnet to all subnets with nodes; empty where Azure's own routes lead there. Azure leads
    packets to Pods of an overlay apart from routes (AKS docs, concepts-network-azure-cni-overlay).
    """
    if isinstance(target, Pod) and world.pod_range is not None:
        return ()
    ends = [each.cidr for each in world.node_subnets]
    packets = (Packet(subnet.cidr, each, port, flow.protocol, "", is_needed(flow)) for each in ends)
    return chosen(flow, (subnet.leaves.inside(each) for each in packets))


def out(  # noqa: PLR0917 - the parts of one connection
    world: World, flow: Flow, target: Address, port: int, tag: str | None = None, host: str = ""
) -> Hops:
    """Hops from nodes to a public address, or to one of Azure's addresses in `PLATFORM`.

    Packets from Pods leave with their node's address.
    """
    if target.text in PLATFORM:
        return of_nodes(
            world,
            flow,
            lambda each: (each.group.lets_out_to_platform(target.text, port, flow.protocol),) if each.group else (),
        )
    if not world.node_subnets:
        # Without known subnets a flow that has to be closed counts as open.
        return () if world.cluster is not None else (Verdict(None if is_needed(flow) else True, FOREIGN),)

    def way(subnet: Subnet) -> Hops:
        end: Source = tag or network_of(target.text)
        group = subnet.group
        wholly = is_needed(flow)
        first = (group.lets_out(subnet.cidr, end, port, wholly=wholly, protocol=flow.protocol),) if group else ()
        return (*first, *subnet.leaves.hops(Packet(subnet.cidr, end, port, flow.protocol, host, wholly)))

    return of_nodes(world, flow, way)


def to_api_server(world: World, flow: Flow, port: int) -> Hops:
    server = world.api_server
    if server is None:
        return ()
    accepted = server.lets_in_nodes(world.resources)
    if not server.is_private:
        return (*out(world, flow, SOMEWHERE, port, AZURE, HOST), accepted)
    node = Entity("node")
    return (accepted, *among_nodes(world, flow, node, node, port, routed=not server.is_endpoint))


def by_group(subnet: Subnet, source: Source, port: int, target: str | IPv4Network, *, wholly: bool) -> Verdict:
    if subnet.group is None:
        return Verdict(True, f"no security group of {subnet.resource.name}", subnet.resource)
    return subnet.group.lets_in(source, port, target, wholly=wholly)
