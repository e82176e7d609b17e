"""What the GRID agent decides in each case on record."""

from __future__ import annotations

from grid_agent.decide import decide
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from tests.support.cases import in_one_test
from tests.support.grid_agent_cases import CASES
from tests.support.grid_agent_cases.case import NOW, OPEN, Case
from tests.support.grid_agent_fake import installed, wanted


@in_one_test("case", CASES, ids=[case.name.replace(" ", "-") for case in CASES])
def test_decision(case: Case) -> None:
    plan = case.plan()
    assert (plan.state, plan.reason, plan.step) == (case.state, case.reason, case.step), plan.sentence
    assert case.says in plan.sentence
    assert len(plan.sentence) > 20


def test_every_state_is_reached_by_a_decision() -> None:
    assert {case.plan().state for case in CASES} | {State.INSPECTING} == set(State)


def test_no_gate_remains_closed_without_a_reason() -> None:
    """On a gated node every plan says what is going on, and a blocked one what that means for pods."""
    for case in CASES:
        plan = case.plan()
        if plan.state is State.BLOCKED and plan.reason != "RolledBack":
            assert "No GPU Pod can start" in plan.sentence or "remains in service" in plan.sentence, case.name


def test_a_proven_driver_is_never_changed() -> None:
    plan = decide(installed(), OPEN, wanted(), Memory(), NOW)
    assert plan.proven
    assert set(plan.steps) == {Step.WAIT}
