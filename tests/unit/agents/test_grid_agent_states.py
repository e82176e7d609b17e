"""The page on the GRID agent's states says what its code does."""

from __future__ import annotations

from grid_agent.steps import State
from tests.support.grid_agent_states import FILE, page, transitions


def test_the_page_is_fresh() -> None:
    assert FILE.read_text() == page(), "run python -m tests.support.grid_agent_states"


def test_every_state_is_entered_in_some_scenario() -> None:
    assert {after for _, after in transitions()} | {State.INSPECTING} == set(State)


def test_every_state_but_the_last_ones_is_left() -> None:
    assert set(State) - {before for before, _ in transitions()} <= {State.REMOVED, State.BLOCKED}
