"""Refusals of upgrades, each with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from physical_ai.releases.takeover import OUTPUT, state_output
from tests.support.releases import FIRST, release, v
from workbench.upgrade.judging import Journey, refusals

STEP = {"id": "drain", "text": "Let jobs end.", "when": "before", "required": True}
NOTES = [
    FIRST,
    release("0.2.0", steps=({**STEP, "id": "look", "when": "after", "required": False}, STEP)),
    release("0.3.0", "0.2.0"),
]


def refused(
    old: str,
    new: str,
    *,
    states: Mapping[str, Mapping[str, Any]] | None = None,
    done: Sequence[str] = (),
) -> str:
    journey = Journey.of(v(old), v(new), NOTES)
    return "\n".join(refusals(journey, NOTES, states or {}, done))


def test_an_upgrade_in_one_step_is_done() -> None:
    assert refused("0.1.0", "0.2.0", done=["drain"]) == ""
    assert refused("0.2.0", "0.3.0") == ""


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("0.2.0", "0.1.0", "pins version 0.2.0, and 0.1.0 is older.\n  The way back is git's"),
        ("0.2.0", "0.2.0", "pins version 0.2.0 already"),
        ("0.1.0", "0.3.0", "An upgrade to 0.3.0 begins at version 0.2.0"),
        ("0.1.0", "0.2.0", "The step drain comes first: Let jobs end.\n  When it is done: physai upgrade 0.2.0 --done"),
    ],
)
def test_another_way_is_refused_with_advice(old: str, new: str, text: str) -> None:
    assert text in refused(old, new)


def test_a_stack_that_a_newer_version_deployed_is_named() -> None:
    states = {"dev-westus2": {OUTPUT: state_output(NOTES, v("0.3.0"))}}
    text = refused("0.1.0", "0.2.0", states=states, done=["drain"])
    assert text == (
        "The stack dev-westus2 was deployed by version 0.3.0, which is newer than 0.2.0.\n"
        "  Upgrade to 0.3.0 or a later version: physai upgrade 0.3.0"
    )


def test_a_stack_that_was_not_deployed_with_the_release_between_is_named() -> None:
    states = {"dev-westus2": {OUTPUT: state_output(NOTES, v("0.1.0"))}}
    assert "The stack dev-westus2: an upgrade to 0.3.0 begins at version 0.2.0" in refused(
        "0.2.0", "0.3.0", states=states
    )


def test_a_step_that_is_none_is_named() -> None:
    assert "--done nothing: there is no such step between 0.2.0 and 0.3.0.\n  Steps: none." in refused(
        "0.2.0", "0.3.0", done=["nothing"]
    )


def test_steps_before_the_deployment_come_first() -> None:
    assert [each.id for each in Journey.of(v("0.1.0"), v("0.2.0"), NOTES).steps] == ["drain", "look"]
