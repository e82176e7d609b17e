"""Progress of a first contact: the state of each stage, the next stage, the state file, and the page of evidence. Does
no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from workbench.first_contact.judging import Result
from workbench.first_contact.stages import Stage

VERSION = 1
State = Literal["running", "passed", "failed", "left-out"]
DONE: tuple[State, ...] = ("passed", "left-out")


class Unreadable(Exception):
    """Error for a state file that is damaged, has another format version, or belongs to another stack; the text says
    what is wrong.
    """


@dataclass(frozen=True)
class Entry:
    """Progress of one stage: its state, its times, its commands, and where their output is."""

    state: State
    began: str
    """Time at which the stage began, in ISO 8601. `ended` has the same format."""
    ended: str | None = None
    commands: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Names of the files that hold the commands' output. They are in the same folder as the state file."""


@dataclass(frozen=True)
class Progress:
    """Progress of a stack's first contact. `entries` has the stages that have begun, by name."""

    stack: str
    simulated: bool
    settings: str
    """Digest of the stack's settings after the last stage that has ended."""
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    version: int = VERSION


def following(progress: Progress, every: Sequence[Stage]) -> Stage | None:
    """The next stage: the first one that has neither passed nor was left out; None if all are done."""
    return next((each for each in every if not is_done(progress, each)), None)


def is_done(progress: Progress, stage: Stage) -> bool:
    entry = progress.entries.get(stage.name)
    return entry is not None and entry.state in DONE


def begun(progress: Progress, stage: Stage, when: str, commands: Sequence[str]) -> Progress:
    """The progress with `stage` marked as running. If the process dies, the mark remains, and the next run begins with
    this stage again.
    """
    return _with(progress, stage, Entry("running", when, commands=tuple(commands)))


def ended(
    progress: Progress, stage: Stage, result: Result, *, when: str, settings: str, evidence: Sequence[str] = ()
) -> Progress:
    """The progress with a stage that has ended with `result`."""
    before = progress.entries.get(stage.name) or Entry("running", when)
    entry = replace(before, state=result.status, ended=when, remarks=result.remarks, evidence=tuple(evidence))
    return replace(_with(progress, stage, entry), settings=settings)


def back_to(progress: Progress, every: Sequence[Stage], name: str) -> Progress:
    """The progress without the entries of the stage `name` and of all stages after it, so that they are run again."""
    names = [each.name for each in every]
    kept = names[: names.index(name)]
    return replace(progress, entries={key: each for key, each in progress.entries.items() if key in kept})


def _with(progress: Progress, stage: Stage, entry: Entry) -> Progress:
    return replace(progress, entries={**progress.entries, stage.name: entry})


def text(progress: Progress) -> str:
    """The progress as the JSON text of the state file."""
    return json.dumps(asdict(progress), indent=2) + "\n"


def parsed(content: str, stack: str, *, simulated: bool) -> Progress:
    """The progress in the text of a state file. Raises Unreadable if the text is invalid, or about another stack."""
    try:
        found = TypeAdapter(Progress).validate_json(content)
    except ValidationError as problem:
        first: Any = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise Unreadable(f"{where}: {first['msg']}") from None
    if found.version != VERSION:
        raise Unreadable(f"version: it is {found.version}, and this physai reads {VERSION}")
    if (found.stack, found.simulated) != (stack, simulated):
        raise Unreadable(f"stack: it is about {found.stack}, and not about {stack}")
    return found


def page(progress: Progress, every: Sequence[Stage]) -> str:
    """The progress as a Markdown page of evidence, with a table row for each stage."""
    where = "in the simulator" if progress.simulated else "on Azure"
    lines = [
        f"# First contact of {progress.stack}, {where}",
        "",
        "| stage | state | from | to | commands | remarks | output |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in every:
        entry = progress.entries.get(each.name)
        if entry is None:
            lines.append(f"| {each.title} | not begun | – | – | – | – | – |")
            continue
        cells = (each.title, entry.state, entry.began, entry.ended or "–", *map(_cell, _lists(entry)))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _lists(entry: Entry) -> tuple[str, str, str]:
    return "<br>".join(entry.commands), "<br>".join(entry.remarks), ", ".join(entry.evidence)


def _cell(content: str) -> str:
    return " ".join(content.split()).replace("|", "\\|") or "–"
