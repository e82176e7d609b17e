"""What a preview says of the connections that a change opens and closes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.unit.conftest import Simulate
from workbench.cli.changes import Run, Step
from workbench.cli.preview import markdown, reach
from workbench.policies import Resource, Stack
from workbench.policies.flows.security_groups import RULE
from workbench.policies.flows.world import NETWORK_POLICY

STACK = "dev-southeastasia"


def run_of(*steps: Step) -> Run:
    return Run(steps={(each.urn, each.op): each for each in steps})


def step(op: str, of: Resource, old: dict[str, Any] | None = None) -> Step:
    return Step(f"urn:pulumi:s::p::{of.type}::{of.name}", of.type, op, old=old or {})


def the(stack: Stack, type_: str, name: str) -> Resource:
    (found,) = [each for each in stack.resources if each.type == type_ and name in each.name]
    return found


def test_a_deleted_rule_closes_the_gateway_and_is_shown_first_of_all(simulate: Simulate) -> None:
    stack = simulate(STACK).stack
    rule = the(stack, RULE, "gateway")
    after = replace(stack, resources=tuple(each for each in stack.resources if each is not rule))
    (row,) = reach.changed(after, run_of(step("delete", rule, dict(rule.inputs))))
    assert (row["before"], row["after"], row["holds"]) == ("open", "closed", False)
    shown = markdown.reach({"reach": [row]})
    assert "**closes** `internet` → `osmo-gateway`, port 443, by Azure's rule DenyAllInBound of nsg-" in shown
    assert "; it was open by rule allow-osmo-gateway of nsg-" in shown
    assert "**It must be open**: Users and agents of other clusters reach a public gateway." in shown


def test_a_policy_that_a_change_widens_opens_what_it_closed(simulate: Simulate) -> None:
    stack = simulate(STACK).stack
    policy = the(stack, NETWORK_POLICY, "workflows-tasks")
    wide = {**policy.inputs, "spec": {**policy.inputs["spec"], "egress": [{}]}}
    after = replace(
        stack, resources=tuple(replace(each, inputs=wide) if each is policy else each for each in stack.resources)
    )
    rows = reach.changed(after, run_of(step("update", policy, dict(policy.inputs))))
    assert {"task → database", "task → cache"} <= {f"{each['from']} → {each['to']}" for each in rows}
    assert {each["after"] for each in rows} == {"open"}


def test_a_created_rule_opens_what_was_closed(simulate: Simulate) -> None:
    stack = simulate(STACK).stack
    (row,) = reach.changed(stack, run_of(step("create", the(stack, RULE, "gateway"))))
    assert (row["before"], row["after"], row["holds"]) == ("closed", "open", True)
    assert "- opens `internet` → `osmo-gateway`, port 443, by rule allow-osmo-gateway" in markdown.reach(
        {"reach": [row]}
    )


def test_a_change_that_isolates_the_platform_says_whom_it_shuts_out(simulate: Simulate) -> None:
    stack = simulate(STACK).stack
    made = [each for each in stack.resources if each.type == NETWORK_POLICY and "-isolation-osmo-control" in each.name]
    rows = reach.changed(stack, run_of(*(step("create", each) for each in made)))
    assert {(each["from"], each["to"], each["after"]) for each in rows} >= {("team-pod", "service", "closed")}
    gone = replace(stack, resources=tuple(each for each in stack.resources if each not in made))
    back = reach.changed(gone, run_of(*(step("delete", each, dict(each.inputs)) for each in made)))
    opened = {(each["from"], each["to"], each["after"]): each["holds"] for each in back}
    assert opened["team-pod", "service", "open"]  # nothing of it has to be isolated any more


def test_a_change_of_something_else_says_nothing(simulate: Simulate) -> None:
    stack = simulate(STACK).stack
    pool = the(stack, "azure-native:containerservice:AgentPool", "cpu")
    assert reach.changed(stack, run_of(step("update", pool, {**pool.inputs, "count": 9}))) == []
    assert markdown.reach({}) == markdown.reach({"reach": []}) == ""
