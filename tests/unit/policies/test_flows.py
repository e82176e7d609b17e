"""Who reaches whom over all that is on the way: what is declared, and whether each committed stack is so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.cases import in_one_test
from tests.unit.conftest import Simulate
from workbench.policies import Resource, Stack, evaluate
from workbench.policies.flows import FLOWS, Judgement, Required, judge
from workbench.policies.flows.azure_services import AZURE_SERVICES, FIREWALL_RULE
from workbench.policies.flows.balancers import ALLOWED_RANGES, NO_FLOATING_ADDRESS, SERVICE
from workbench.policies.flows.declared import PARTIES
from workbench.policies.flows.paths import SERVICES, TO
from workbench.policies.flows.rules import DECIDING, RULES
from workbench.policies.flows.security_groups import RULE
from workbench.policies.flows.ways import CLIENTS

PUBLIC, PRIVATE = "dev-southeastasia", "prod-westeurope"


def found(stack: Stack, source: str, target: str) -> list[Judgement]:
    return [each for each in judge(stack) if (each.flow.source, each.flow.target) == (source, target)]


def states(stack: Stack, source: str, target: str) -> set[bool | None]:
    return {each.way.verdict.open for each in found(stack, source, target)}


def without(stack: Stack, *types: str, name: str = "") -> Stack:
    kept = [each for each in stack.resources if each.type not in types or name not in each.name]
    assert len(kept) < len(stack.resources)
    return replace(stack, resources=tuple(kept))


def changed(stack: Stack, type_: str, name: str, inputs: Mapping[str, Any]) -> Stack:
    def new(each: Resource) -> Resource:
        hit = each.type == type_ and name in each.name and each.custom
        return replace(each, inputs={**each.inputs, **inputs}) if hit else each

    result = replace(stack, resources=tuple(map(new, stack.resources)))
    assert result != stack
    return result


def test_parties_of_the_flows_are_known() -> None:
    known = {*PARTIES, *CLIENTS, *TO, *SERVICES}
    assert {name for each in FLOWS for name in (each.source, each.target)} <= known
    assert set(PARTIES) <= {name for each in FLOWS for name in (each.source, each.target)}


def test_what_is_tolerated_says_what_protects_it_instead() -> None:
    assert [str(each) for each in FLOWS if bool(each.instead) is not (each.must is Required.TOLERATED)] == []


@pytest.mark.parametrize("preview", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_every_flow_of_a_committed_stack_is_as_it_has_to_be(simulate: Simulate, stack_name: str, preview: bool) -> None:
    stack = simulate(stack_name, preview=preview).stack
    assert [str(each) for each in judge(stack) if not each.holds] == []


def test_every_flow_is_in_some_committed_stack_and_what_is_tolerated_is_open_there(simulate: Simulate) -> None:
    judged = [each for name in (PUBLIC, PRIVATE, "onprem-lab", "dev-westus2") for each in judge(simulate(name).stack)]
    # Those of parts that no committed stack has are in test_flows_found.py.
    assert {str(each) for each in FLOWS} - {str(each.flow) for each in judged} == {
        "nvsentinel → dcgm",
        "team-pod → grid-driver",
    }
    tolerated = {str(each) for each in FLOWS if each.must is Required.TOLERATED}
    assert {str(each.flow) for each in judged if each.way.verdict.open} >= tolerated


def test_without_its_rule_a_public_gateway_is_reached_by_nobody(simulate: Simulate) -> None:
    stack = without(simulate(PUBLIC).stack, RULE)
    (broken,) = evaluate(stack, RULES)
    assert broken.rule == "needed-flows-open"
    assert broken.type.endswith("NetworkSecurityGroup")
    assert "internet → osmo-gateway, port 443: closed, by Azure's rule DenyAllInBound" in broken.problem


@in_one_test(
    ("inputs", "is_open"),
    [
        ({"sourceAddressPrefix": "*"}, True),
        ({"sourceAddressPrefix": "203.0.113.0/24"}, False),  # some of the internet is not all of it
        ({"destinationAddressPrefix": "VirtualNetwork"}, False),  # the packet still has the public address
        ({"destinationAddressPrefix": "10.45.0.0/24"}, False),
        ({"destinationPortRanges": ["80"]}, False),
        ({"destinationPortRanges": ["80", "400-500"]}, True),
        ({"protocol": "Udp"}, False),
        ({"protocol": "*"}, True),
        ({"access": "Deny"}, False),
        ({"direction": "Outbound"}, False),
    ],
)
def test_the_rule_has_to_let_everybody_in(simulate: Simulate, inputs: dict[str, Any], is_open: bool) -> None:
    stack = changed(simulate(PUBLIC).stack, RULE, "gateway", inputs)
    assert states(stack, "internet", "public-balancers") == {is_open}


DENY = {"securityRuleName": "deny", "priority": 999, "access": "Deny", "sourceAddressPrefix": "*"}


def test_a_rule_before_it_decides(simulate: Simulate) -> None:
    stack = simulate(PUBLIC).stack
    (rule,) = [each for each in stack.resources if each.type == RULE]
    landing_zone = replace(
        rule,
        name="landing-zone",
        inputs={
            **rule.inputs,
            "securityRuleName": "deny",
            "priority": 999,
            "access": "Deny",
            "sourceAddressPrefix": "*",
        },
    )
    (judged,) = found(replace(stack, resources=(*stack.resources, landing_zone)), "internet", "public-balancers")
    assert (judged.holds, judged.way.verdict.by.split(" of ")[0]) == (False, "rule deny")


def test_any_declared_load_balancer_needs_a_way_in(simulate: Simulate) -> None:
    spec = {"type": "LoadBalancer", "ports": [{"port": 2222}], "selector": {"app": "login"}}
    login = Resource(SERVICE, "login", {"metadata": {"name": "login", "namespace": "slurm"}, "spec": spec})
    stack = simulate(PUBLIC).stack
    judged = found(replace(stack, resources=(*stack.resources, login)), "internet", "public-balancers")
    assert {(each.way.target, each.holds) for each in judged} == {("login", False), ("osmo-gateway", True)}


@pytest.mark.parametrize("key", ALLOWED_RANGES)
def test_with_ranges_of_the_service_only_those_have_to_pass(simulate: Simulate, key: str) -> None:
    metadata = {"name": "login", "annotations": {key: "20.1.2.0/24, 20.9.0.0/16"}}
    spec = {"type": "LoadBalancer", "ports": [{"port": 443}]}
    login = Resource(SERVICE, "login", {"metadata": metadata, "spec": spec})
    only = without(simulate(PUBLIC).stack, "kubernetes:helm.sh/v3:Release")
    both = ["20.1.2.0/24", "20.9.0.0/16"]
    for ranges, is_open in ((both, True), (both[:1], False)):
        stack = changed(only, RULE, "gateway", {"sourceAddressPrefix": None, "sourceAddressPrefixes": ranges})
        stack = replace(stack, resources=(*stack.resources, login))
        assert False in states(stack, "internet", "public-balancers") or is_open
        assert (states(stack, "internet", "public-balancers") == {True}) is is_open


def test_without_a_floating_address_the_ports_of_nodes_are_not_known(simulate: Simulate) -> None:
    metadata = {"name": "login", "annotations": {NO_FLOATING_ADDRESS: "true"}}
    spec = {"type": "LoadBalancer", "ports": [{"port": 443}]}
    login = Resource(SERVICE, "login", {"metadata": metadata, "spec": spec})
    stack = simulate(PUBLIC).stack
    assert states(replace(stack, resources=(*stack.resources, login)), "internet", "public-balancers") == {True, None}


def test_clients_of_the_vpn_need_a_rule(simulate: Simulate) -> None:
    stack = simulate(PRIVATE).stack
    assert states(stack, "private-clients", "internal-balancers") == {True}
    assert states(without(stack, RULE, name="clients"), "private-clients", "internal-balancers") == {False}


def test_an_open_port_of_the_subnets_is_found(simulate: Simulate) -> None:
    stack = changed(simulate(PUBLIC).stack, RULE, "gateway", {"destinationPortRanges": ["443", "5432"]})
    assert {each.rule for each in evaluate(stack, RULES)} == {"forbidden-flows-closed"}


TASKS = "kubernetes:networking.k8s.io/v1:NetworkPolicy"


def test_a_task_reaches_no_data_service_that_lets_its_node_in(simulate: Simulate) -> None:
    """A Pod's packets have the nodes' public address, which the database's firewall lets in."""
    stack = simulate(PUBLIC).stack
    (firewall,) = [each for each in stack.resources if each.type.endswith("postgresql:FirewallRule")]
    assert states(stack, "service", "database") == {True}
    assert states(without(stack, firewall.type), "service", "database") == {False}
    assert states(stack, "task", "database") == states(stack, "task", "cache") == {False}
    policy = next(each for each in stack.resources if each.type == TASKS and each.inputs["metadata"]["name"] == "tasks")
    egress = [{key: value for key, value in rule.items() if key != "ports"} for rule in policy.inputs["spec"]["egress"]]
    spec = {**policy.inputs["spec"], "egress": egress}
    opened = changed(stack, TASKS, policy.name, {"spec": spec})
    assert states(opened, "task", "database") == states(opened, "task", "cache") == {True}
    # Without the firewall's rule, or without public access, the policy need not close it.
    assert states(without(opened, firewall.type), "task", "database") == {False}
    closed = changed(
        opened, "azure-native:dbforpostgresql:Server", "", {"network": {"publicNetworkAccess": "Disabled"}}
    )
    assert states(closed, "task", "database") == {False}


def test_a_firewall_that_lets_in_all_of_azure_is_found(simulate: Simulate) -> None:
    for ends in ((AZURE_SERVICES, AZURE_SERVICES), (AZURE_SERVICES, "255.255.255.255"), ("20.0.0.0", "20.255.255.255")):
        stack = changed(simulate(PUBLIC).stack, FIREWALL_RULE, "", {"startIpAddress": ends[0], "endIpAddress": ends[1]})
        assert states(stack, "internet", "database") == {True}


def test_a_task_reaches_private_endpoints_at_their_one_port(simulate: Simulate) -> None:
    stack = simulate(PRIVATE).stack
    assert states(stack, "service", "database") == states(stack, "task", "storage") == {True}
    assert states(stack, "task", "database") == states(stack, "task", "cache") == {False}


def test_what_decides_is_among_the_types_that_the_rules_look_at(simulate: Simulate) -> None:
    for name in (PUBLIC, PRIVATE, "onprem-lab"):
        assert {each.resource.type for each in judge(simulate(name).stack) if each.resource} <= set(DECIDING)
