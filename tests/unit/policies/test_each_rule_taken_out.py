"""Each rule of the shipped stacks taken out in turn: it is found, or it is proved that nobody has a use for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.ends_of_policies import changes_nothing
from tests.support.stacks import STACKS
from tests.unit.components.test_components_private import PEERED, network
from tests.unit.conftest import Simulate
from workbench.policies import RULES as POLICIES
from workbench.policies import Resource, Stack, evaluate
from workbench.policies.flows import Judgement, Required, judge
from workbench.policies.flows.azure_services import ENDPOINT, FIREWALL_RULE
from workbench.policies.flows.images import pulled, renaming
from workbench.policies.flows.leaving import NAT_GATEWAY
from workbench.policies.flows.names import INBOUND_ENDPOINT, LINK, RECORD, ZONE, ZONE_GROUP
from workbench.policies.flows.route_tables import ROUTE_TABLE
from workbench.policies.flows.rules import DECIDING
from workbench.policies.flows.security_groups import GROUP, RULE
from workbench.policies.flows.world import NETWORK_POLICY, SUBNET, read
from workbench.policies.images import CACHE_RULE

RULES = (
    *(NETWORK_POLICY, RULE, GROUP, ENDPOINT, ZONE_GROUP, ZONE, LINK, RECORD),
    *(FIREWALL_RULE, NAT_GATEWAY, CACHE_RULE, INBOUND_ENDPOINT),
)
"""Types of resources that decide about connections and are no end of one."""
PEERING = "azure-native:network:VirtualNetworkPeering"
ASSOCIATIONS = ("networkSecurityGroup", "natGateway", "routeTable")
AMONG_THEMSELVES = ("cert-manager", "kai-scheduler")
"""Namespaces whose Pods may reach each other, for no connection that their charts document."""
NVSENTINEL = "nvsentinel"
TOKEN_JOB = "osmo-token"
DIFFERENT = ("dev-southeastasia", "onprem-lab", "prod-westeurope")
SHIPPED = [
    *((name, False) for name in DIFFERENT),
    *(pytest.param(name, True, marks=pytest.mark.deep) for name in STACKS),
]
"""Committed stacks, and True where each policy is taken out of the stack although it was taken out of another. In
`make test`: the stacks whose rules differ, and each NetworkPolicy in the first of them that has it."""
Rule = tuple[str, str, str, str]
"""Namespace and name of a policy, direction, and the part of it as JSON."""
Tried = dict[str, set[str]]


@pytest.fixture(scope="module")
def proofs() -> dict[str, bool]:
    """Proofs by their question: many stacks have the same policies."""
    return {}


@pytest.fixture(scope="module")
def tried() -> Tried:
    """Policies that a test has taken out of a stack, by test."""
    return {}


def with_new(stack: Stack, old: Resource, new: Resource | None) -> Stack:
    kept = (new if each is old else each for each in stack.resources)
    return replace(stack, resources=tuple(each for each in kept if each is not None))


def noticed(before: Mapping[str, bool | None], stack: Stack) -> list[Judgement]:
    """Connections that are not as they have to be, or that were known before and are unknown now."""
    found = judge(stack)
    return [
        each
        for each in found
        if not each.holds
        or (each.way.verdict.open is None and before.get(key(each)) is not None and each.flow.must is Required.OPEN)
    ]


def key(judged: Judgement) -> str:
    return f"{judged.flow} {judged.way.target} {judged.way.port} {judged.flow.protocol}"


def states(stack: Stack) -> dict[str, bool | None]:
    return {key(each): each.way.verdict.open for each in judge(stack)}


def policies_of(stack: Stack) -> list[Mapping[str, Any]]:
    return [each.inputs for each in stack.resources if each.type == NETWORK_POLICY]


def proved(proofs: dict[str, bool], stack: Stack, policy: Resource, instead: Mapping[str, Any] | None) -> bool:
    """True if nobody's connections change without the policy, or with another instead."""
    given, ground = policies_of(stack), read(stack.resources).ground
    question = json.dumps([given, policy.inputs, instead, str(ground)], sort_keys=True, default=str)
    if question not in proofs:
        proofs[question] = changes_nothing(given, policy.inputs, instead, ground)
    return proofs[question]


def is_for_nobody(stack: Stack, gone: Resource) -> bool:
    """True if what the resource opens is for something that the stack does not have."""
    if gone.type == CACHE_RULE:
        host = str(gone.inputs["sourceRepository"]).partition("/")[0]
        return renaming(stack.resources) is None or host not in pulled(stack.resources)
    if gone.type == LINK and "hub" not in gone.name:
        # The DNS servers of a hub ask the zones that the hub's network sees.
        return bool(list(stack.of_type(PEERING)))
    if gone.type != NETWORK_POLICY:
        return False
    rules = gone.inputs["spec"].get("ingress") or ()
    return (
        bool(rules) and all(NVSENTINEL in json.dumps(each.get("from")) for each in rules) and not _has_sentinel(stack)
    )


def denies_only_the_token_job(stack: Stack, gone: Resource) -> bool:
    """True if a policy changes nothing but for Pods of the Job that creates OSMO's token, which the stack lacks."""
    if gone.type != NETWORK_POLICY or any(TOKEN_JOB in str(each.inputs.get("spec")) for each in _workloads(stack)):
        return False
    own = {"matchLabels": {"app.kubernetes.io/name": TOKEN_JOB}}
    closed = {
        "metadata": {"namespace": gone.inputs["metadata"]["namespace"], "name": "token-job"},
        "spec": {"podSelector": own, "policyTypes": ["Ingress", "Egress"]},
    }
    return changes_nothing([*policies_of(stack), closed], gone.inputs, None, read(stack.resources).ground)


def _workloads(stack: Stack) -> Iterator[Resource]:
    return (each for each in stack.resources if each.type.rpartition(":")[2] in ("Job", "CronJob", "Deployment"))


def _has_sentinel(stack: Stack) -> bool:
    return NVSENTINEL in read(stack.resources).namespaces


def new(policy: Resource, tried: set[str]) -> bool:
    """True the first time that this test sees the policy, which is then no longer new."""
    text = json.dumps(policy.inputs, sort_keys=True, default=str)
    is_new = text not in tried
    tried.add(text)
    return is_new


def assert_each_is_found(
    stack: Stack, proofs: dict[str, bool], types: Sequence[str] = RULES, tried: set[str] | None = None
) -> list[Resource]:
    """The rules that were taken out: all but the policies that were `tried` before."""
    before = states(stack)
    taken = [each for each in stack.resources if each.type in types and each.custom]
    if tried is not None:
        taken = [each for each in taken if each.type != NETWORK_POLICY or new(each, tried)]
    for gone in taken:
        found = noticed(before, with_new(stack, gone, None))
        assert all(each.way.verdict.by and each.resource and each.resource.type in DECIDING for each in found), (
            gone.name
        )
        if not found:
            nothing = gone.type == NETWORK_POLICY and proved(proofs, stack, gone, None)
            assert nothing or is_for_nobody(stack, gone) or denies_only_the_token_job(stack, gone), gone.name
    return taken


@pytest.mark.parametrize(("name", "again"), SHIPPED)
def test_each_rule_of_a_shipped_stack_is_found_or_has_no_use(
    simulate: Simulate, name: str, again: bool, proofs: dict[str, bool], tried: Tried
) -> None:
    known = None if again else tried.setdefault("rules", set())
    assert assert_each_is_found(simulate(name).stack, proofs, tried=known)


def test_each_rule_of_a_network_with_a_hub_and_its_firewall_is_found(
    simulate: Simulate, proofs: dict[str, bool]
) -> None:
    stack = simulate("dev-westus2", network("private", hub=PEERED, firewall={"address": "10.0.1.4"})).stack
    # The addresses behind a hub are in no resource but the rule that lets them in. Policies know no hub.
    kinds = [each for each in RULES if each not in (RULE, NETWORK_POLICY)]
    assert LINK in {each.type for each in assert_each_is_found(stack, proofs, kinds)}
    (table,) = [each for each in stack.resources if each.type == ROUTE_TABLE]
    (found, *_) = noticed(states(stack), with_new(stack, table, replace(table, inputs={**table.inputs, "routes": []})))
    assert "no NAT gateway and no route of physical-ai-network-subnet-" in found.way.verdict.by


def parts(policy: Mapping[str, Any]) -> Iterator[tuple[Rule, dict[str, Any]]]:
    """Each rule of a policy, and each port and peer of a rule with several, with the policy without it."""
    space, name = policy["metadata"]["namespace"], policy["metadata"]["name"]
    for direction, place in (("ingress", "from"), ("egress", "to")):
        for at, rule in enumerate(policy["spec"].get(direction) or ()):
            smaller = copy.deepcopy(dict(policy))
            smaller["spec"][direction].pop(at)
            yield (space, name, direction, json.dumps(rule, sort_keys=True)), smaller
            for list_ in ("ports", place):
                for index, part in enumerate(rule.get(list_) or () if len(rule.get(list_) or ()) > 1 else ()):
                    smaller = copy.deepcopy(dict(policy))
                    smaller["spec"][direction][at][list_].pop(index)
                    yield (space, name, direction, json.dumps(part, sort_keys=True)), smaller


def has_no_use(stack: Stack, part: Rule) -> bool:
    """True if the part is for something that the stack does not have, or that no chart documents."""
    space, name, _, text = part
    world, rule = read(stack.resources), json.loads(text)
    if space in AMONG_THEMSELVES and rule in ({"from": [{"podSelector": {}}]}, {"to": [{"podSelector": {}}]}):
        return True
    absent = [port for kind, port in (("database", 5432), ("cache", 10000)) if not world.of_kind(kind)]
    return (name == "dcgm" and NVSENTINEL not in world.namespaces) or rule.get("port") in absent


@pytest.mark.parametrize(("name", "again"), SHIPPED)
def test_each_part_of_a_policy_is_found_or_has_no_use(
    simulate: Simulate, name: str, again: bool, proofs: dict[str, bool], tried: Tried
) -> None:
    stack, known = simulate(name).stack, tried.setdefault("parts", set())
    before, missed = states(stack), list[Rule]()
    policies = [each for each in stack.resources if each.type == NETWORK_POLICY]
    for policy in [each for each in policies if again or new(each, known)]:
        for part, smaller in parts(policy.inputs):
            less = with_new(stack, policy, replace(policy, inputs=smaller))
            if not noticed(before, less) and not has_no_use(stack, part) and not proved(proofs, stack, policy, smaller):
                missed.append(part)
    assert missed == []


def test_each_association_of_a_subnet_is_found(simulate: Simulate, azure_stack_name: str) -> None:
    stack = simulate(azure_stack_name).stack
    pairs = [
        (each, name)
        for each in stack.resources
        if each.type == SUBNET
        for name in ASSOCIATIONS
        if each.inputs.get(name)
    ]
    assert pairs
    rules = [each for each in POLICIES if each.id == "subnet-outbound"]
    for subnet, name in pairs:
        left = {key: value for key, value in subnet.inputs.items() if key != name}
        assert evaluate(with_new(stack, subnet, replace(subnet, inputs=left)), rules), (subnet.name, name)


def test_a_group_of_others_is_unknown_and_named(simulate: Simulate) -> None:
    stack = simulate("dev-southeastasia").stack
    (group,) = [each for each in stack.resources if each.type == GROUP]
    found = [each for each in judge(with_new(stack, group, None)) if str(each.flow) == "internet → public-balancers"]
    assert {each.way.verdict.open for each in found} == {None}
    assert {each.way.verdict.by for each in found} == {
        "security group nsg-physical-ai-dev-southeastasia, which is not of the stack"
    }
    assert all(each.holds for each in judge(with_new(stack, group, None)) if each.way.verdict.open is None)


def test_a_name_without_its_record_and_a_network_without_its_resolver_resolve_nothing(simulate: Simulate) -> None:
    stack = simulate("prod-westeurope").stack
    (record,) = [each for each in stack.resources if each.type == RECORD]
    (found,) = [each for each in judge(with_new(stack, record, None)) if not each.holds]
    assert "closed, by no record of osmo.contoso.com in its zone physical-ai-gateway-dns-zone" in str(found)
    (resolver,) = [each for each in stack.resources if each.type == INBOUND_ENDPOINT]
    silent = [each for each in judge(with_new(stack, resolver, None)) if not each.holds]
    assert {each.way.verdict.by for each in silent} == {
        "no DNS resolver at 10.46.3.100, the DNS server of physical-ai-network-vnet"
    }
    assert {"node → api-server", "service → database"} <= {str(each.flow) for each in silent}
