"""Progress of a move: the state of each stage, the next stage, the limits, and the state file. Does no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from workbench.moves.layers import Move, State
from workbench.moves.stages import Stage, stages

VERSION = 1
Outcome = Literal["running", "passed", "waiting", "failed"]


class Unreadable(Exception):
    """Error for a state file that is damaged, has another format version, or is about another pool; the text says what
    is wrong.
    """


@dataclass(frozen=True)
class Limits:
    """Limits of the wait for running work.

    Attributes:
        within: Seconds from the beginning of a wait until the work has to have ended.
        budget: GPU-hours that may be lost after that time; None to end no work.
        restart_services: True to evict Pods that their controllers start again on the other pool.
    """

    within: float
    budget: float | None = None
    restart_services: bool = False


@dataclass(frozen=True)
class Entry:
    """Progress of one stage. The times are in ISO 8601."""

    outcome: Outcome
    began: str
    ended: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """Progress of a move.

    Attributes:
        own: What the stack file itself had about the old pool and its platform before the move.
        extra: Options -f and --set of the stack, as words of a command line.
        written: Settings that the stack's files, or the layer of a rehearsal, have.
        cap: Largest number of nodes of the old pool while new work goes to the new pool.
        back: True on the way back.
        entries: The stages that have begun, by name.
    """

    move: Move
    simulated: bool
    limits: Limits
    own: dict[str, Any] = field(default_factory=dict[str, Any])
    extra: tuple[str, ...] = ()
    level: str = "quick"
    written: State = "original"
    cap: int | None = None
    back: bool = False
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    version: int = VERSION

    def following(self) -> Stage | None:
        """The next stage: the first one that has not passed; None at the end."""
        return next((each for each in stages(back=self.back) if not self.has_passed(each)), None)

    def has_passed(self, stage: Stage) -> bool:
        entry = self.entries.get(stage.name)
        return entry is not None and entry.outcome == "passed"

    def begun(self, stage: Stage, when: str) -> Progress:
        """The progress with the stage running. A stage that is continued keeps the time at which it began."""
        before = self.entries.get(stage.name)
        return self._with(stage, Entry("running", before.began if before else when))

    def ended(self, stage: Stage, outcome: Outcome, when: str, *remarks: str) -> Progress:
        began = self.entries[stage.name].began
        return self._with(stage, Entry(outcome, began, when, remarks))

    def turned(self) -> Progress:
        """The progress on the way back; a move that goes back already is unchanged."""
        if self.back:
            return self
        return replace(self, back=True)

    def forward(self) -> Progress:
        """The progress of a move whose way back is given up: everything after the plan runs again."""
        kept = {name: each for name, each in self.entries.items() if name == "plan"}
        return replace(self, back=False, entries=kept)

    def _with(self, stage: Stage, entry: Entry) -> Progress:
        return replace(self, entries={**self.entries, stage.name: entry})


def text(progress: Progress) -> str:
    """The progress as the JSON text of the state file."""
    return json.dumps(asdict(progress), indent=2) + "\n"


@cache
def _adapter() -> TypeAdapter[Progress]:
    return TypeAdapter(Progress)


def parsed(content: str, stack: str, pool: str, *, simulated: bool) -> Progress:
    """The progress in the text of a state file. Raises Unreadable if the text is invalid, or about another move."""
    try:
        found = _adapter().validate_json(content)
    except ValidationError as problem:
        first: Any = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise Unreadable(f"{where}: {first['msg']}") from None
    if found.version != VERSION:
        raise Unreadable(f"version: it is {found.version}, and this physai reads {VERSION}")
    if (found.move.stack, found.move.old, found.simulated) != (stack, pool, simulated):
        raise Unreadable(f"move: it is about {found.move.old} of {found.move.stack}, and not about {pool} of {stack}")
    return found


def same_request(progress: Progress, to: Mapping[str, str], name: str | None) -> str:
    """Difference between a move under way and a new request for the same pool; empty if they agree."""
    move = progress.move
    if to and dict(to) != move.to:
        under_way = " ".join(f"--to {path}={value}" for path, value in move.to.items())
        return f"a move of {move.old} is under way with other values: {under_way}"
    if name is not None and name != move.new:
        return f"a move of {move.old} is under way to {move.new}, and not to {name}"
    return ""
