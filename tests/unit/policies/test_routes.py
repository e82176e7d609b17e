"""Routes of a subnet: which one decides, and what it closes in a stack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.naive_routing import Row, next_hop
from tests.unit.components.test_components_private import PEERED, network
from tests.unit.conftest import Simulate
from tests.unit.policies.test_firewalls import collection, firewall, group, policy, rule
from tests.unit.policies.test_flows_found import changed
from workbench.policies import Resource, Stack
from workbench.policies.flows import Judgement, judge
from workbench.policies.flows.firewall_bodies import resources_of
from workbench.policies.flows.firewalls import Packet, firewalls
from workbench.policies.flows.leaving import Leaving, leaving
from workbench.policies.flows.route_tables import PEERING, ROUTE_TABLE, VIRTUAL_NETWORK, VPN_GATEWAY
from workbench.policies.flows.routing import Origin, Route, choose, deciding, own_routes
from workbench.policies.flows.verdicts import Hops, all_of
from workbench.policies.flows.world import SUBNET

ORIGINS = {"user": Origin.USER, "gateway": Origin.GATEWAY, "azure": Origin.AZURE}
NODES = IPv4Network("10.0.0.0/24")
Json = dict[str, Any]


def users(*rows: tuple[str, str]) -> list[Route]:
    return [Route(IPv4Network(prefix), hop, Origin.USER, f"{prefix} {hop}") for prefix, hop in rows]


@pytest.mark.parametrize(
    ("address", "hop"),
    [
        ("10.0.1.9", "VirtualAppliance"),
        ("10.0.0.9", "VnetLocal"),
        ("10.1.0.9", "None"),
        ("10.2.0.9", "None"),
        ("10.10.0.9", "VirtualAppliance"),
        ("10.99.0.9", "VirtualAppliance"),
        ("8.8.8.8", "VirtualAppliance"),
    ],
)
def test_the_documented_example_with_a_users_routes(address: str, hop: str) -> None:
    """Subnet1 of the routing example of Azure's documentation."""
    own = users(
        ("10.0.0.0/16", "VirtualAppliance"),
        ("10.0.0.0/24", "VnetLocal"),
        ("10.1.0.0/16", "None"),
        ("10.2.0.0/16", "None"),
        ("10.10.0.0/16", "VirtualAppliance"),
        ("0.0.0.0/0", "VirtualAppliance"),
    )
    found = choose(documented(own), IPv4Address(address))
    assert found is not None
    assert (found.origin, found.hop) == (Origin.USER, hop)


@pytest.mark.parametrize(
    ("address", "hop"),
    [
        ("10.0.1.9", "VnetLocal"),
        ("10.1.0.9", "VNetPeering"),
        ("10.10.0.9", "VirtualNetworkGateway"),
        ("10.99.0.9", "None"),
        ("192.168.1.1", "None"),
        ("100.64.0.1", "None"),
        ("8.8.8.8", "Internet"),
    ],
)
def test_the_documented_example_with_azures_own_routes(address: str, hop: str) -> None:
    """Subnet2 of the same example."""
    found = choose(documented([]), IPv4Address(address))
    assert found is not None
    assert found.hop == hop


def documented(own: list[Route]) -> tuple[Route, ...]:
    space, *peered = map(IPv4Network, ("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16"))
    return own_routes([space], peered, [IPv4Network("10.10.0.0/16")], own)


prefixes = st.builds(
    lambda number, length: str(IPv4Network((number << 24 >> (32 - length) << (32 - length), length))),
    st.integers(0, 3),
    st.integers(0, 8),
)
small = st.builds(
    lambda number, length: str(IPv4Network(((0x0A000000 | number) >> (32 - length) << (32 - length), length))),
    st.integers(0, 63),
    st.integers(24, 32),
)
tables = st.lists(
    st.tuples(
        st.one_of(small, prefixes),
        st.sampled_from(list(ORIGINS)),
        st.sampled_from(["VnetLocal", "VNetPeering", "VirtualNetworkGateway", "Internet", "None"]),
    ),
    max_size=8,
)


@examples(200)
@given(tables)
def test_the_choice_is_the_same_for_both(rows: list[tuple[str, str, str]]) -> None:
    routes = [Route(IPv4Network(prefix), hop, ORIGINS[source]) for prefix, source, hop in rows]
    target, found = IPv4Network("10.0.0.0/26"), set[tuple[str, str]]()
    for number in range(64):
        address = f"10.0.0.{number}"
        ours, theirs = choose(routes, IPv4Address(address)), next_hop([Row(*row) for row in rows], address)
        assert (ours is None) is (theirs is None)
        if ours is not None and theirs is not None:
            assert (str(ours.prefix), ours.origin, ours.hop) == (theirs.prefix, ORIGINS[theirs.source], theirs.hop)
            found.add((str(ours.prefix), ours.hop))
    assert {(str(each.prefix), each.hop) for each in deciding(routes, target)} == found


def subnet(*routes: Json, bodies: Iterable[Json] = (), **more: Any) -> Leaving:
    """Ways out of a subnet with these routes, behind a NAT gateway unless a route leads elsewhere."""
    table = Resource(ROUTE_TABLE, "rt", {"routeTableName": "rt", "routes": list(routes)})
    space = {"virtualNetworkName": "vnet", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    given = {"virtualNetworkName": "vnet", "routeTable": {"id": "/x/routeTables/rt"}, **more}
    resources = [Resource(VIRTUAL_NETWORK, "vnet", space), table, *resources_of(bodies)]
    return leaving(Resource(SUBNET, "nodes", given), resources, "managedNATGateway", firewalls(resources))


def route(prefix: str, hop: str = "None", address: str = "10.9.0.4") -> Json:
    name = prefix.replace("/", "-")
    return {"name": name, "addressPrefix": prefix, "nextHopType": hop, "nextHopIpAddress": address}


def state(hops: Hops) -> tuple[bool | None, str]:
    found = all_of(hops)
    return found.open, found.by


def to(target: str, *, wholly: bool = True) -> Packet:
    is_tag = not target[0].isdigit()
    return Packet(NODES, target if is_tag else IPv4Network(target), 443, "TCP", "", wholly)


def test_a_longer_route_comes_before_the_default_one() -> None:
    found = subnet(route("0.0.0.0/0", "Internet"), route("140.82.0.0/16"))
    assert state(found.hops(to("140.82.112.3"))) == (False, "route 140.82.0.0-16 of rt, which drops packets")
    assert state(found.hops(to("8.8.8.8"))) == (True, "AKS's NAT gateway (outboundType managedNATGateway)")


@pytest.mark.parametrize(
    ("tags", "target", "is_open"),
    [
        (["Storage"], "Storage", False),
        (["Storage"], "AzureKeyVault", True),
        (["AzureCloud"], "AzureKeyVault", False),
        (["Storage.WestUS2"], "Storage", None),
        (["AzureCloud.westus2"], "AzureKeyVault", None),
        (["AzureMonitor"], "AzureCloud", None),
        (["AzureCloud"], "AzureCloud", False),
    ],
)
def test_routes_for_service_tags(tags: list[str], target: str, is_open: bool | None) -> None:
    assert state(subnet(*map(route, tags)).hops(to(target)))[0] is is_open


def test_a_tag_of_a_service_comes_before_that_of_the_cloud() -> None:
    both = subnet(route("AzureCloud"), route("Storage", "Internet"))
    assert state(both.hops(to("Storage")))[0] is True
    assert state(both.hops(to("AzureKeyVault")))[0] is False


def test_a_service_whose_address_is_not_known_may_be_in_a_users_range() -> None:
    found = subnet(route("20.0.0.0/8"), route("10.9.0.0/16"))
    assert state(found.hops(to("AzureKeyVault"))) == (
        None,
        "route 20.0.0.0-8 of rt, if it has the address of AzureKeyVault",
    )
    assert state(subnet(route("20.0.0.0/8", "Internet")).hops(to("AzureKeyVault")))[0] is True


def test_a_service_endpoint_leads_past_the_default_route() -> None:
    shut = route("0.0.0.0/0")
    found = subnet(shut, serviceEndpoints=[{"service": "Microsoft.Storage"}])
    assert state(found.hops(to("Storage"))) == (True, "service endpoint of nodes for Storage")
    assert state(found.hops(to("AzureKeyVault")))[0] is False


def test_packets_within_the_network_follow_a_users_route() -> None:
    within = to("10.0.7.0/24")
    assert subnet().inside(within) == ()
    assert subnet(route("0.0.0.0/0", "VirtualAppliance")).inside(within) == ()
    assert state(subnet(route("10.0.0.0/16")).inside(within)) == (
        False,
        "route 10.0.0.0-16 of rt, which drops packets",
    )
    assert state(subnet(route("10.0.0.0/16", "VirtualAppliance")).inside(within))[0] is None
    assert subnet(route("10.0.0.0/16"), route("10.0.7.0/24", "VnetLocal")).inside(within) == ()


def test_a_route_for_a_part_of_the_target_counts_in_its_worse_sense() -> None:
    part = subnet(route("10.0.7.128/25"))
    assert state(part.inside(to("10.0.7.0/24")))[0] is False
    assert part.inside(to("10.0.7.0/24", wholly=False)) == ()


def test_a_firewall_on_a_longer_route_is_asked() -> None:
    way = route("10.0.0.0/16", "VirtualAppliance", "10.9.0.4")
    opened = group("g", 200, collection("c", 100, rule()))
    bodies = [firewall(address="10.9.0.4"), policy()]
    assert state(subnet(way, bodies=[*bodies, opened]).inside(to("10.0.7.0/24")))[0] is True
    assert state(subnet(way, bodies=bodies).inside(to("10.0.7.0/24")))[0] is False


def test_ranges_behind_a_peering() -> None:
    known = Resource(
        PEERING,
        "to-hub",
        {"virtualNetworkName": "vnet", "remoteAddressSpace": {"addressPrefixes": ["10.1.0.0/16"]}},
    )
    hidden = Resource(PEERING, "to-hub", {"virtualNetworkName": "vnet"})
    table = Resource(ROUTE_TABLE, "rt", {"routeTableName": "rt", "routes": [route("10.0.0.0/8")]})
    space = {"virtualNetworkName": "vnet", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    own = Resource(SUBNET, "nodes", {"virtualNetworkName": "vnet", "routeTable": {"id": "/x/routeTables/rt"}})

    def ways(peering: Resource) -> Leaving:
        return leaving(own, [Resource(VIRTUAL_NETWORK, "vnet", space), table, peering], "managedNATGateway", ())

    assert ways(known).inside(to("10.1.2.0/24")) == ()
    assert state(ways(known).inside(to("10.3.2.0/24")))[0] is False
    assert state(ways(hidden).inside(to("10.1.2.0/24"))) == (
        None,
        "route 10.0.0.0-8 of rt, unless a range of the peering to-hub is longer",
    )


HUB = network("private", hub=PEERED, firewall={"address": "10.0.1.4"})


def with_routes(stack: Stack, *routes: Json, **more: Any) -> Stack:
    """The stack with a route table of these routes for all its subnets with nodes."""
    table = Resource(ROUTE_TABLE, "rt", {"routeTableName": "rt", "routes": list(routes), **more})
    named = {"routeTable": {"id": "/x/routeTables/rt"}}
    found = changed(stack, SUBNET, lambda inputs: {**inputs, **(named if inputs.get("natGateway") else {})})
    return replace(found, resources=(*found.resources, table))


def judged(stack: Stack, flow: str) -> list[Judgement]:
    return [each for each in judge(stack) if str(each.flow) == flow]


def broken(stack: Stack) -> set[str]:
    return {str(each.flow) for each in judge(stack) if not each.holds}


@pytest.mark.parametrize("name", ["dev-southeastasia", "prod-westeurope"])
def test_a_table_without_a_route_changes_nothing(simulate: Simulate, name: str) -> None:
    assert broken(with_routes(simulate(name).stack)) == set()


def test_a_dropped_range_closes_what_is_there(simulate: Simulate) -> None:
    stack = simulate("dev-southeastasia").stack
    assert {"node → public-address", "task → public-address"} <= broken(with_routes(stack, route("140.82.0.0/16")))
    assert {"node → registry"} <= broken(with_routes(stack, route("AzureContainerRegistry")))
    (space,) = [each for each in stack.resources if each.type == VIRTUAL_NETWORK and each.custom]
    (own,) = space.inputs["addressSpace"]["addressPrefixes"]
    assert "node → node" in broken(with_routes(stack, route(str(own))))


def test_endpoints_have_routes_of_their_own(simulate: Simulate) -> None:
    stack = simulate("prod-westeurope").stack
    (space,) = [each for each in stack.resources if each.type == VIRTUAL_NETWORK and each.custom]
    (own,) = space.inputs["addressSpace"]["addressPrefixes"]
    shut = with_routes(stack, route(str(own)))
    assert "service → database" not in broken(shut)
    assert "node → api-server" not in broken(shut)
    filtered = changed(shut, SUBNET, lambda inputs: {**inputs, "privateEndpointNetworkPolicies": "RouteTableEnabled"})
    assert "service → database" in broken(filtered)
    shorter = with_routes(stack, route("10.0.0.0/8"))
    shorter = changed(shorter, SUBNET, lambda inputs: {**inputs, "privateEndpointNetworkPolicies": "RouteTableEnabled"})
    assert broken(shorter) == set()


def test_answers_to_clients_of_the_vpn_go_back_through_its_gateway(simulate: Simulate) -> None:
    stack = simulate("prod-westeurope").stack
    default = route("0.0.0.0/0", "VirtualAppliance", "10.9.0.4")
    assert [each for each in stack.resources if each.type == VPN_GATEWAY]
    assert not {each for each in broken(with_routes(stack, default)) if each.startswith("private-clients")}
    cut = with_routes(stack, default, disableBgpRoutePropagation=True)
    assert "private-clients → internal-balancers" in broken(cut)
    (found, *_) = [each for each in judged(cut, "private-clients → internal-balancers") if not each.holds]
    assert found.way.verdict.by == "answers by route 0.0.0.0-0 of rt, which leads to what has not seen the connection"
    alone = with_routes(stack, disableBgpRoutePropagation=True)
    assert "private-clients → internal-balancers" in broken(alone)


def test_answers_of_a_public_gateway_do_not_leave_through_a_firewall(simulate: Simulate) -> None:
    stack = simulate("dev-southeastasia").stack
    through = with_routes(stack, route("0.0.0.0/0", "VirtualAppliance", "10.9.0.4"))
    assert "internet → public-balancers" in broken(through)
    assert "internet → public-balancers" not in broken(with_routes(stack, route("0.0.0.0/0", "Internet")))


def test_a_hub_whose_ranges_are_not_declared_is_no_finding(simulate: Simulate) -> None:
    assert broken(simulate("dev-westus2", HUB).stack) == set()
