"""The version that may deploy a stack which another version has deployed."""

from __future__ import annotations

import pytest

from physical_ai.releases.takeover import OUTPUT, deployed_version, oldest, problem, skipped, state_output
from tests.support.releases import FIRST, release, v

CLOSED = {"open": False, "text": "Restore the database."}
NOTES = [
    FIRST,
    release("0.2.0"),
    release("0.3.0", "0.2.0", back=CLOSED),
    release("0.4.0", "0.2.0"),
]


@pytest.mark.parametrize(
    ("version", "least"), [("0.1.0", "0.1.0"), ("0.2.0", "0.1.0"), ("0.3.0", "0.3.0"), ("0.4.0", "0.3.0")]
)
def test_a_release_without_a_way_back_is_the_oldest_that_deploys_again(version: str, least: str) -> None:
    assert oldest(NOTES, v(version)) == v(least)
    assert state_output(NOTES, v(version)) == {"version": version, "oldest": least}


@pytest.mark.parametrize(
    ("state", "program", "reason"),
    [
        ("0.2.0", "0.1.0", None),
        ("0.3.0", "0.2.0", "versions before 0.3.0 cannot deploy it again; this is 0.2.0"),
        ("0.4.0", "0.3.0", None),
        ("0.1.0", "0.3.0", "an upgrade to 0.3.0 begins at version 0.2.0 or a later one; this is 0.1.0"),
        ("0.1.0", "0.2.0", None),
        ("0.4.0", "0.4.0", None),
    ],
)
def test_a_program_refuses_a_stack_that_it_cannot_deploy(state: str, program: str, reason: str | None) -> None:
    """An older program knows only the notes up to its own version."""
    outputs = {OUTPUT: state_output(NOTES, v(state))}
    known = [each for each in NOTES if each.number <= v(program)]
    found = problem(outputs, known, v(program))
    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize("outputs", [{}, {OUTPUT: "x"}, {OUTPUT: {"version": 3}}, {OUTPUT: {"version": "new"}}])
def test_a_stack_that_names_no_version_is_deployed(outputs: dict[str, object]) -> None:
    assert deployed_version(outputs) is None
    assert problem(outputs, NOTES, v("0.1.0")) is None


def test_a_skipped_release_is_named_with_the_command() -> None:
    assert "physai upgrade 0.2.0" in str(skipped(NOTES, v("0.1.0"), v("0.4.0")))
    assert skipped(NOTES, v("0.2.0"), v("0.4.0")) is None
