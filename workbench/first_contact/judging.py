"""Verdicts on stages of the first contact, from the answers of their commands. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from physical_ai.nested import is_mapping
from workbench.first_contact.stages import Stage, Subject

Status = Literal["passed", "failed", "left-out"]


@dataclass(frozen=True)
class Answer:
    """Exit code and standard output of one command of a stage."""

    code: int
    output: str
    """Text of the standard output."""


@dataclass(frozen=True)
class Result:
    """Verdict on a stage. `remarks`: reasons for a failure, or notes for the user after a success."""

    status: Status
    remarks: tuple[str, ...] = ()


def judge(stage: Stage, subject: Subject, answers: Sequence[Answer]) -> Result:
    """Verdict on a stage: the verdict on the first of its commands that did not pass or, if all passed, on its last
    command.

    `answers`: the answers of the stage's commands, in the order in which the commands ran.
    """
    found = [_JUDGES[stage.judge](stage, subject, answer) for answer in answers]
    if not found:
        return Result("failed", ("no command was run",))
    return next((each for each in found if each.status != "passed"), found[-1])


def _exit(stage: Stage, subject: Subject, answer: Answer) -> Result:
    del stage, subject
    if answer.code == 0:
        return Result("passed")
    return Result("failed", (f"the command ended with exit code {answer.code}; its output says why",))


def _findings(stage: Stage, subject: Subject, answer: Answer) -> Result:
    del subject
    document = _document(answer)
    if document is None:
        return Result("failed", (f"the command ended with exit code {answer.code} and no document",))
    if document.get("azureAsked") is not True:
        return Result("failed", (f"Azure was not asked: {document.get('whyNot') or 'no reason given'}",))
    rows = [each for each in document.get("findings", []) if is_mapping(each)]
    matching = [each for each in rows if not stage.topics or each.get("topic") in stage.topics]
    if not matching:
        return Result("failed", ("the answer has no finding about it",))
    unknown = [f"not known: {each.get('subject')}: {each.get('message')}" for each in matching if _is(each, "unknown")]
    errors = list(_errors(matching))
    if not errors and stage.demands and stage.demands not in {each.get("topic") for each in rows}:
        return Result("left-out", (f"this physai check has no findings about the topic {stage.demands}", *unknown))
    return Result("failed" if errors else "passed", (*errors, *unknown))


def _errors(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in rows:
        if _is(each, "error"):
            fix = f" {each['fix']}" if each.get("fix") else ""
            yield f"{each.get('topic')} {each.get('subject')}: {each.get('message')}{fix}"


def _is(row: Mapping[str, Any], status: str) -> bool:
    return row.get("status") == status


def _gates(stage: Stage, subject: Subject, answer: Answer) -> Result:
    del stage
    document = _document(answer)
    pools = document.get("pools") if document else None
    if not is_mapping(pools):
        return Result("failed", (f"the command ended with exit code {answer.code} and no list of pools",))
    closed = [
        f"{name}: gate {gate.get('gate')} of {gate.get('node')} is closed: {gate.get('message')}"
        for name, pool in pools.items()
        for gate in pool.get("closed", [])
    ]
    empty = [f"{name} has no node, so nothing is known of it" for name, pool in pools.items() if not pool.get("nodes")]
    if closed or answer.code:
        return Result("failed", (*closed, *empty) or (f"the command ended with exit code {answer.code}",))
    if empty and subject.platforms:
        return Result("failed", tuple(empty))
    return Result("passed", tuple(empty))


def _accept(stage: Stage, subject: Subject, answer: Answer) -> Result:
    del stage, subject
    document = _document(answer)
    nodes = document.get("nodes") if document else None
    if not isinstance(nodes, list):
        return Result("failed", (f"the command ended with exit code {answer.code} and no list of nodes",))
    if answer.code:
        return Result("failed", ("a node did not pass; the evidence has each check",))
    if not nodes:
        return Result("failed", ("no node was checked; the stage nodes brings one of each pool",))
    return Result("passed", (f"{len(nodes)} nodes passed",))  # pyright: ignore[reportUnknownArgumentType]  # any JSON


def _document(answer: Answer) -> Mapping[str, Any] | None:
    try:
        found: Any = json.loads(answer.output)
    except ValueError:
        return None
    return found if is_mapping(found) else None


_JUDGES = {"exit": _exit, "findings": _findings, "gates": _gates, "accept": _accept}
