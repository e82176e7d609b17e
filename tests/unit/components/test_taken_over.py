"""The program and a stack that another version deployed."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from components.platform import taken_over
from physical_ai.releases import installed
from tests.support.recording import record
from tests.unit.conftest import Simulate

STACK = "dev-westus2"


def test_a_deployment_leaves_its_version_and_the_oldest_that_may_follow(simulate: Simulate) -> None:
    assert simulate(STACK).exports["program"] == {"version": str(installed()), "oldest": "0.1.0"}


def test_a_stack_that_a_newer_version_keeps_for_itself_ends_the_program_before_its_first_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taken_over, "_outputs", lambda: {"program": {"version": "9.1.0", "oldest": "9.0.0"}})
    with pytest.raises(pulumi.RunError) as caught:
        record(STACK)
    assert str(caught.value) == (
        "The stack dev-westus2 is not deployed: version 9.1.0 deployed it, and versions before 9.0.0 cannot deploy it"
        f" again; this is {installed()}.\n  Install version 9.1.0: requirements.txt."
    )


@pytest.mark.parametrize("answer", [{"outputs": {"program": {"version": "9.1.0"}}}, {"outputs": None}, None, "x"])
def test_the_outputs_are_those_of_the_stack_itself(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    class Result:
        value = answer

    def invoke(token: str, arguments: dict[str, str]) -> Result:
        asked.append((token, arguments))
        return Result()

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    monkeypatch.setattr(pulumi, "get_stack", lambda: STACK)
    monkeypatch.setattr(pulumi, "get_project", lambda: "physical-ai")
    monkeypatch.setattr(pulumi, "get_organization", lambda: "acme")
    found = taken_over._outputs()  # pyright: ignore[reportPrivateUsage]  # what the engine answers has no other reader
    assert asked == [(taken_over.READ, {"name": f"acme/physical-ai/{STACK}"})]
    assert found == ((answer or {}).get("outputs") or {} if isinstance(answer, dict) else {})


def test_a_backend_that_does_not_answer_stops_no_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("unknown stack")

    said: list[str] = []
    monkeypatch.setattr(pulumi.runtime, "invoke", fail)
    monkeypatch.setattr(pulumi.log, "debug", said.append)
    taken_over.refuse_foreign_state()
    assert ["unknown stack" in each for each in said] == [True]
