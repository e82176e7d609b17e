"""Each rule of the platform taken out, and each kind of denial added: the flow that it breaks is found and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tests.unit.components.test_components_private import PEERED, RESOLVER, VPN, network
from tests.unit.conftest import Simulate
from workbench.policies import Resource, Stack
from workbench.policies.flows import Judgement, Required, judge
from workbench.policies.flows.api_server import CLUSTER, PUBLIC_ADDRESS
from workbench.policies.flows.azure_services import ENDPOINT, FIREWALL_RULE, SCOPE
from workbench.policies.flows.declared import PARTIES
from workbench.policies.flows.leaving import NAT_GATEWAY
from workbench.policies.flows.monitors import TYPES as MONITORS
from workbench.policies.flows.names import LINK, ZONE_GROUP
from workbench.policies.flows.network_policies import decide
from workbench.policies.flows.parties import Address, Pod
from workbench.policies.flows.route_tables import ROUTE_TABLE
from workbench.policies.flows.rules import DECIDING
from workbench.policies.flows.security_groups import RULE
from workbench.policies.flows.world import NAMESPACE, NETWORK_POLICY, POOL, SUBNET
from workbench.policies.images import CACHE_RULE

PUBLIC, PRIVATE, LAB = "dev-southeastasia", "prod-westeurope", "onprem-lab"
OPENING = (RULE, ENDPOINT, ZONE_GROUP, LINK, FIREWALL_RULE)
"""Types of which each resource opens a way; without it something that is needed is closed."""


def broken(stack: Stack) -> list[Judgement]:
    return [each for each in judge(stack) if not each.holds]


def without(stack: Stack, gone: Resource) -> Stack:
    return replace(stack, resources=tuple(each for each in stack.resources if each is not gone))


def changed(stack: Stack, type_: str, change: Callable[[dict[str, Any]], dict[str, Any]], name: str = "") -> Stack:
    def new(each: Resource) -> Resource:
        hit = each.type == type_ and each.custom and name in each.name
        return replace(each, inputs=change(dict(each.inputs))) if hit else each

    result = replace(stack, resources=tuple(map(new, stack.resources)))
    assert result != stack
    return result


def pairs(stack: Stack) -> list[bool | None]:
    """Whether each party reaches each other one, as NetworkPolicies have it."""
    policies = [each.inputs for each in stack.resources if each.type == NETWORK_POLICY]
    spaces = {each["metadata"]["namespace"] for each in policies}
    names = ("task", "agent", "gateway", "service", "osmo-token", "gpu-operator", "dcgm", "kai", "cert-manager")
    pods = [each for name in names if isinstance(each := PARTIES[name], Pod) and each.namespace in spaces]
    ends = [*pods, Pod("team-a"), Pod("kube-system", {"rsName": "ama-metrics"}), Address("140.82.112.3")]
    ports = (443, 8000)
    return [decide(policies, one, other, port).allowed for one, other, port in product(ends, ends, ports)]


@pytest.mark.parametrize("name", [pytest.param(PRIVATE, marks=pytest.mark.deep), LAB, "dev-westus2"])
def test_a_network_policy_taken_out_is_found_unless_others_do_the_same(simulate: Simulate, name: str) -> None:
    stack = simulate(name).stack
    policies = [each for each in stack.resources if each.type == NETWORK_POLICY]
    missed = [each for each in policies if not broken(without(stack, each))]
    before = pairs(stack)
    # Who takes one of these away changes nothing for anybody: the others of its namespace select the same Pods.
    assert [each.name for each in missed if pairs(without(stack, each)) != before] == []
    assert len(missed) < len(policies) / 2


@pytest.mark.parametrize("name", [PUBLIC, pytest.param(PRIVATE, marks=pytest.mark.deep)])
def test_what_opens_a_way_in_azure_is_found_when_it_is_taken_out(simulate: Simulate, name: str) -> None:
    stack = simulate(name).stack
    opening = [each for each in stack.resources if each.type in OPENING and each.custom]
    assert opening
    assert [each.name for each in opening if not broken(without(stack, each))] == []


def test_an_image_that_the_registry_neither_caches_nor_shows_is_said(simulate: Simulate) -> None:
    """Those of the gateway and of its login come from registries of their own."""
    stack = simulate(PRIVATE).stack
    by_host = {each.way.target: each.way.verdict for each in judge(stack) if each.flow.target == "images"}
    assert {host: each.open for host, each in by_host.items()} == {
        "docker.io": None, "ghcr.io": True, "nvcr.io": True, "registry.k8s.io": True,
    }  # fmt: skip
    assert "imported docker.io/envoyproxy/envoy" in by_host["docker.io"].by
    (nvidia,) = [each for each in stack.resources if each.type == CACHE_RULE and "nvcr" in each.name]
    left = {
        each.way.target: each.way.verdict.open for each in judge(without(stack, nvidia)) if each.flow.target == "images"
    }
    assert left["nvcr.io"] is None
    deny_all = deny("Outbound", target="Internet")
    group = "azure-native:network:NetworkSecurityGroup"
    shut = changed(simulate(PUBLIC).stack, group, lambda inputs: {**inputs, "securityRules": [deny_all]})
    found = [each for each in broken(shut) if str(each.flow) == "node → images"]
    assert {each.way.target for each in found} >= {"docker.io", "nvcr.io"}


def test_parts_that_no_committed_stack_has_are_judged_where_they_are(simulate: Simulate) -> None:
    stack = simulate(PRIVATE).stack
    watched = replace(
        stack, resources=(*stack.resources, Resource(NAMESPACE, "n", {"metadata": {"name": "nvsentinel"}}))
    )
    (dcgm,) = [each for each in stack.resources if each.type == NETWORK_POLICY and "-dcgm-network" in each.name]
    assert broken(watched) == []
    assert [str(each.flow) for each in broken(without(watched, dcgm))] == ["nvsentinel → dcgm"]
    spec = {
        "selector": {"matchLabels": {"app.kubernetes.io/component": "grid-driver"}},
        "podMetricsEndpoints": [{"port": "metrics"}],
    }
    monitor = Resource(
        MONITORS["azure-monitors"], "grid", {"metadata": {"name": "grid", "namespace": "gpu-operator"}, "spec": spec}
    )
    lab = simulate(PUBLIC).stack
    found = broken(replace(lab, resources=(*lab.resources, monitor)))
    assert [str(each.flow) for each in found] == ["team-pod → grid-driver"]


def deny(direction: str, port: str = "*", target: str = "*", source: str = "*") -> dict[str, Any]:
    return {
        "name": "landing-zone", "priority": 100, "direction": direction, "access": "Deny", "protocol": "*",
        "sourceAddressPrefix": source, "destinationAddressPrefix": target, "destinationPortRange": port,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "flow"),
    [
        (deny("Inbound"), "node → node"),
        (deny("Inbound", source="10.244.0.0/16"), "gateway → service"),
        (deny("Inbound", target="10.46.3.0/24", port="5432"), "service → database"),
        (deny("Inbound", source="192.168.0.0/16", port="53"), "private-clients → resolver"),
        (deny("Outbound", target="Internet"), "node → public-address"),
        (deny("Outbound", target="VirtualNetwork", port="443"), "node → api-server"),
        (deny("Outbound", target="AzurePlatformIMDS"), "node → instance-metadata"),
        (deny("Outbound", target="AzurePlatformDNS", port="53"), "node → azure-wire-server"),
    ],
)
def test_a_denial_of_a_landing_zone_is_named(simulate: Simulate, rule: dict[str, Any], flow: str) -> None:
    group = "azure-native:network:NetworkSecurityGroup"
    stack = changed(simulate(PRIVATE).stack, group, lambda inputs: {**inputs, "securityRules": [rule]})
    found = [each for each in broken(stack) if str(each.flow) == flow]
    assert found
    assert {each.way.verdict.by.split(" of ")[0] for each in found} == {"rule landing-zone"}


def test_an_outbound_denial_of_a_part_of_azure_closes_what_is_there_and_nothing_else(simulate: Simulate) -> None:
    group = "azure-native:network:NetworkSecurityGroup"
    rule = deny("Outbound", target="AzureContainerRegistry")
    stack = changed(simulate(PUBLIC).stack, group, lambda inputs: {**inputs, "securityRules": [rule]})
    assert {str(each.flow) for each in broken(stack)} <= {"node → registry"}
    azure = changed(stack, group, lambda inputs: {**inputs, "securityRules": [deny("Outbound", target="AzureCloud")]})
    assert {"service → database", "node → api-server"} <= {str(each.flow) for each in broken(azure)}


def test_a_subnet_without_a_way_out_is_found(simulate: Simulate) -> None:
    stack = changed(simulate(PUBLIC).stack, SUBNET, lambda inputs: {**inputs, "natGateway": None}, "h100gpu")
    found = [each for each in broken(stack) if str(each.flow) == "node → public-address"]
    assert ["no NAT gateway and no route" in each.way.verdict.by for each in found] == [True]
    bare = changed(simulate(PUBLIC).stack, NAT_GATEWAY, lambda inputs: {**inputs, "publicIpAddresses": []})
    assert "node → api-server" in {str(each.flow) for each in broken(bare)}


@pytest.mark.parametrize(
    ("routes", "state"),
    [
        ([("0.0.0.0/0", "VirtualAppliance")], None),
        ([("0.0.0.0/0", "None")], False),
        ([("0.0.0.0/0", "VirtualAppliance"), ("140.82.0.0/16", "None")], False),
        ([("0.0.0.0/0", "VirtualAppliance"), ("140.83.0.0/16", "None")], None),
        ([("0.0.0.0/1", "None"), ("128.0.0.0/1", "None")], False),
        ([("10.0.0.0/8", "None")], False),  # there is nothing for the internet, and no gateway beside it
    ],
)
def test_routes_decide_before_gateways(simulate: Simulate, routes: list[tuple[str, str]], state: bool | None) -> None:
    hub = network("private", hub=PEERED, firewall={"address": "10.0.1.4"})
    rows = [{"name": f"r{at}", "addressPrefix": to, "nextHopType": hop} for at, (to, hop) in enumerate(routes)]
    stack = changed(simulate("dev-westus2", hub).stack, ROUTE_TABLE, lambda inputs: {**inputs, "routes": rows})
    (found,) = [each for each in judge(stack) if str(each.flow) == "node → public-address"]
    assert found.way.verdict.open is state


def test_an_api_server_that_does_not_accept_its_nodes_is_found(simulate: Simulate) -> None:
    stack = simulate(PUBLIC).stack
    addresses = {each.urn for each in stack.resources if each.type == PUBLIC_ADDRESS}

    def forgotten(each: Resource) -> Resource:
        kept = tuple(urn for urn in each.options.depends_on if urn not in addresses)
        return replace(each, options=replace(each.options, depends_on=kept)) if each.type == CLUSTER else each

    found = broken(replace(stack, resources=tuple(map(forgotten, stack.resources))))
    assert "node → api-server, port 443: closed, by authorized ranges of physical-ai-cluster-aks, without" in " ".join(
        map(str, found)
    )


def test_policies_that_nothing_enforces_open_what_they_closed(simulate: Simulate) -> None:
    def no_engine(inputs: dict[str, Any]) -> dict[str, Any]:
        return {**inputs, "networkProfile": {**inputs["networkProfile"], "networkPolicy": "none"}}

    found = [each for each in broken(changed(simulate(PUBLIC).stack, CLUSTER, no_engine)) if each.flow.source == "task"]
    assert "task → database" in {str(each.flow) for each in found}
    assert {each.resource.type for each in found if each.resource} >= {CLUSTER}


def test_with_a_plugin_that_matches_addresses_of_pods_a_range_opens_them(simulate: Simulate) -> None:
    def npm(inputs: dict[str, Any]) -> dict[str, Any]:
        return {**inputs, "networkProfile": {**inputs["networkProfile"], "networkPolicy": "azure"}}

    ranges = {"ipBlock": {"cidr": "10.0.0.0/8"}}

    def opened(inputs: dict[str, Any]) -> dict[str, Any]:
        return {**inputs, "spec": {**inputs["spec"], "egress": [*inputs["spec"]["egress"], {"to": [ranges]}]}}

    stack = changed(simulate("dev-westus2").stack, NETWORK_POLICY, opened, "workflows-tasks")
    assert broken(stack) == []  # Cilium's ranges have no Pods
    found = {str(each.flow) for each in broken(changed(stack, CLUSTER, npm))}
    assert {"task → node", "task → kai"} <= found


@pytest.mark.parametrize("preview", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    "overrides",
    [
        network("hybrid"),
        network("private", vpn=VPN, resolver=RESOLVER),
        network("private", hub=PEERED),
        network("private", hub=PEERED, firewall={"address": "10.0.1.4"}),
    ],
    ids=["hybrid", "vpn", "hub", "firewall"],
)
def test_no_shape_of_a_network_has_a_false_finding(
    simulate: Simulate, overrides: dict[str, Any], *, preview: bool
) -> None:
    stack = simulate("dev-westus2", overrides, preview=preview).stack
    assert [str(each) for each in broken(stack)] == []
    assert {each.resource.type for each in judge(stack) if each.resource} <= set(DECIDING)


def test_a_foreign_network_is_unknown_and_said(simulate: Simulate) -> None:
    judged = judge(simulate(LAB).stack)
    unknown = {str(each.flow): each.way.verdict.by for each in judged if each.way.verdict.open is None}
    assert unknown["node → public-address"] == "the network under the cluster, which is not of the stack"
    closed = {str(each.flow) for each in judged if each.way.verdict.open is False}
    assert {"task → database-pod", "task → kai", "team-pod → prometheus"} <= closed
    assert not [each for each in judged if each.flow.must is Required.CLOSED and each.way.verdict.open]


def test_a_scope_of_another_stack_is_unknown(simulate: Simulate) -> None:
    stack = simulate(PRIVATE).stack
    kept = tuple(each for each in stack.resources if each.type not in (SCOPE, ENDPOINT) or "database" in each.name)
    found = [each for each in judge(replace(stack, resources=kept)) if each.flow.target == "collection"]
    assert found
    assert {each.way.verdict.open for each in found} == {None}


def test_subnets_with_pools_are_those_of_nodes(simulate: Simulate) -> None:
    stack = simulate(PRIVATE).stack
    assert [each.type for each in stack.resources].count(POOL) == 3
    ways = {each.way.target for each in judge(stack) if str(each.flow) == "internet → subnets"}
    assert len(ways) > 3
