"""`physai check` as a whole, over HTTP, where Azure or the login is not as it should be: unknown, and no verdict."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from simulator.azure.web import Fault
from tests.support.arm_web import reached, world
from tests.unit.verdict.test_blockers import PLACE, declared
from tests.unit.verdict.test_whole_check import OF_THIS_MACHINE, TODAY
from workbench.cli.azure_questions import everything
from workbench.cli.requested_stack import read_stack
from workbench.verdict.asking import Arm

MANY = 2000
"""More faults than a check makes requests."""
ERROR = b'{"error": {"code": "ServerBusy", "message": "Slow down."}}'
ASKED = {"subscription", "size", "quota", "kubernetes", "provider", "api version", "role", "name", "database"}
ASKED |= {"offer", "count", "sku", "lock", "policy", "verdict"}


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of ARM that repeats its requests at once."""
    monkeypatch.setattr("workbench.cli.azure_questions.Arm", partial(Arm, sleep=lambda seconds: None))


def found(folder: Path, *faults: Fault, who: str = "owner") -> list[Finding]:
    with world(folder, faults=faults) as azure:
        rows = everything(
            read_stack(PLACE), declared(PLACE), reached(azure, folder / "answers", who), TODAY, verdict=True
        )
    return [each for each in rows if each.source not in (OF_THIS_MACHINE, "the catalogue")]


def topics(rows: list[Finding], severity: Severity) -> set[str]:
    return {each.rule for each in rows if each.severity is severity}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(429, ERROR, {"Retry-After": "1"}), id="429 with Retry-After"),
        pytest.param(Fault(429, ERROR), id="429 without"),
        pytest.param(Fault(500, ERROR), id="500"),
        pytest.param(Fault(503, b""), id="503 without a body"),
        pytest.param(Fault(200, b'{"value": [{"na', cut=True), id="half an answer"),
        pytest.param(Fault(200, b"<html>login</html>"), id="a page"),
        pytest.param(Fault(200, b"[]"), id="a list"),
        pytest.param(Fault(200, b"{}"), id="an empty object"),
        pytest.param(Fault(200, b'{"value": 7, "values": 7, "properties": 7}'), id="other types"),
        pytest.param(Fault(404, ERROR), id="404"),
        pytest.param(Fault(403, ERROR), id="403"),
    ],
)
def test_what_is_no_answer_is_unknown_for_every_question(tmp_path: Path, fault: Fault) -> None:
    rows = found(tmp_path, *[fault] * MANY)
    assert topics(rows, Severity.ERROR) == set(), [str(each) for each in rows if each.severity is Severity.ERROR]
    assert topics(rows, Severity.UNKNOWN) >= ASKED - {"role"}
    assert topics(rows, Severity.OK) <= {"role", "reach"}


@pytest.mark.parametrize("who", ["expired", "other", "nobody"])
def test_a_login_that_azure_does_not_accept_is_no_verdict(tmp_path: Path, who: str) -> None:
    rows = found(tmp_path, who=who)
    assert topics(rows, Severity.ERROR) == set()
    assert topics(rows, Severity.UNKNOWN) >= ASKED
    assert any("401" in each.problem for each in rows)


@pytest.mark.parametrize("fault", [Fault(429, ERROR, {"Retry-After": "1"}), Fault(503, b""), Fault(500, ERROR)])
def test_an_azure_that_is_busy_for_a_moment_is_asked_again(tmp_path: Path, fault: Fault) -> None:
    rows = found(tmp_path, fault, fault)
    assert topics(rows, Severity.ERROR) | topics(rows, Severity.UNKNOWN) == set()


def newer(document: Any) -> Any:
    """An answer as a later version of an API may give it: with more fields, and rows of kinds that are not known."""
    if isinstance(document, dict):
        return {**{key: newer(each) for key, each in document.items()}, "futureField": {"nested": [1, None, "x"]}}
    if isinstance(document, list):
        return [newer(each) for each in document] + ([{"kindOfTheFuture": True}] if document else [])
    return document


def test_answers_of_a_newer_api_are_read_as_far_as_they_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path) as azure:
        questions = azure.web.questions
        answer = type(questions).answer

        def later(*given: Any) -> tuple[int, Any]:
            status, document = answer(questions, *given)
            is_verdict = "/deployments/" in given[1]
            return status, document if is_verdict else newer(json.loads(json.dumps(document)))

        monkeypatch.setattr(questions, "answer", later)
        rows = everything(read_stack(PLACE), declared(PLACE), reached(azure, tmp_path / "answers"), TODAY, verdict=True)
    rows = [each for each in rows if each.source not in (OF_THIS_MACHINE, "the catalogue")]
    assert [str(each) for each in rows if each.severity in (Severity.ERROR, Severity.UNKNOWN)] == []
