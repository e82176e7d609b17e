"""Findings about a stack's time to the first GPU: against its budget, and against the time before a change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.findings import Finding, Severity
from physical_ai.settings.models.first_gpu import TimeToFirstGpu
from workbench.first_gpu.model import Path
from workbench.first_gpu.report import DEPLOYMENT, KINDS, NODE, Report
from workbench.first_gpu.shortening import gains

RULE = "time-to-first-gpu"
SETTINGS = {DEPLOYMENT: "timeToFirstGpu.deploymentMinutes", NODE: "timeToFirstGpu.nodeMinutes"}
TITLES = {DEPLOYMENT: "From nothing to the first Pod with a GPU", NODE: "One more node"}
SOURCE = "physai time"
SMALLEST = 0.05
"""Difference in minutes below which two times count as equal."""


@dataclass(frozen=True)
class StepChange:
    """A step that takes another time than before, or is there only before or only after a change."""

    title: str
    before: float | None
    """Minutes in the slow case; None if the step is new."""
    after: float | None
    """Minutes in the slow case; None if the step is gone."""
    instead_of: str = ""
    """Title of the step before, if it was another one: another installer's driver, for example."""

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.title} is new ({self.after:g})"
        if self.after is None:
            return f"{self.title} is gone ({self.before:g})"
        if self.instead_of:
            return f"{self.title} ({self.after:g}) instead of {self.instead_of} ({self.before:g})"
        return f"{self.title} takes {self.before:g} → {self.after:g}"


@dataclass(frozen=True)
class Change:
    """Difference that a change makes to the longest path of a kind. Minutes are those of the slow case."""

    kind: str
    pool: str
    """The slowest pool after the change."""
    old_pool: str
    """The slowest pool before it."""
    before: float
    after: float
    steps: tuple[StepChange, ...]

    @property
    def minutes(self) -> float:
        return self.after - self.before

    def __str__(self) -> str:
        """The change in words: `longer by 12 minutes since this change, because …`."""
        verb = "longer" if self.minutes > 0 else "shorter"
        other = [f"the slowest pool is {self.pool}, and was {self.old_pool}"] if self.pool != self.old_pool else []
        reasons = "; ".join([*other, *map(str, self.steps)])
        because = f", because {reasons}" if reasons else ""
        return f"{verb} by {abs(self.minutes):g} minutes since this change{because}"


def changes(old: Report, new: Report) -> list[Change]:
    """The differences between the times before and after a change, of each kind whose slowest pool takes another
    time.
    """
    found = (_change(old, new, kind) for kind in KINDS)
    return [each for each in found if each is not None]


def findings(found: Report, budget: TimeToFirstGpu, changed: Sequence[Change] = ()) -> list[Finding]:
    """Findings about times above the budget. It is an error if the fast case is above it, too. A kind without a budget
    gets none, and one within its budget a finding that is ok.
    """
    return [each for kind in KINDS for each in _of_kind(found, budget, kind, changed)]


def kind_of(finding: Finding) -> str:
    """The kind of path that a finding of `findings` is about."""
    return next(kind for kind, path in SETTINGS.items() if path == finding.where)


def _of_kind(found: Report, budget: TimeToFirstGpu, kind: str, changed: Sequence[Change]) -> Iterator[Finding]:
    most, minutes, slowest = _budget(budget, kind), found.minutes(kind), found.slowest(kind)
    if most is None or minutes is None or slowest is None:
        return
    text = f"{TITLES[kind]}: {_range(minutes)} minutes, slowest pool {slowest.pool.name}, budget {most}"
    if minutes[1] <= most:
        yield Finding(Severity.OK, RULE, SETTINGS[kind], text, None, SOURCE)
        return
    since = next((f": {each}" for each in changed if each.kind == kind and each.minutes > 0), "")
    severity = Severity.ERROR if minutes[0] > most else Severity.WARNING
    yield Finding(severity, RULE, SETTINGS[kind], f"{text}{since}.", _fix(slowest.path(kind), kind), SOURCE)


def _fix(path: Path | None, kind: str) -> str:
    best = [each for each in gains(path) if each.advice] if path is not None else []
    raise_it = f"raise {SETTINGS[kind]} to {math.ceil(path.minutes[1])}" if path is not None else ""
    if not best:
        return f"See physai time for the steps, or {raise_it}."
    return f"{best[0].minutes:g} minutes are: {best[0].step.title}. Shorter: {best[0].advice}. Or {raise_it}."


def _budget(budget: TimeToFirstGpu, kind: str) -> int | None:
    return budget.deployment_minutes if kind == DEPLOYMENT else budget.node_minutes


def _change(old: Report, new: Report, kind: str) -> Change | None:
    then, now = old.slowest(kind), new.slowest(kind)
    before, after = (each.path(kind) if each is not None else None for each in (then, now))
    if before is None or after is None or then is None or now is None:
        return None
    was, is_ = round(before.minutes[1], 1), round(after.minutes[1], 1)
    if abs(is_ - was) < SMALLEST:
        return None
    return Change(kind, now.pool.name, then.pool.name, was, is_, tuple(_step_changes(before, after)))


def _step_changes(before: Path, after: Path) -> Iterator[StepChange]:
    """Steps of the slow case that differ between the two longest paths: other minutes, new steps, and steps that are
    gone.
    """
    old, new = ({each.key: each for each in path.slow} for path in (before, after))
    for key, step in new.items():
        was = old.get(key)
        if was is None and step.minutes[1]:
            yield StepChange(step.title, None, step.minutes[1])
        elif was is not None and was.minutes[1] != step.minutes[1]:
            other = was.title if was.title != step.title else ""
            yield StepChange(step.title, was.minutes[1], step.minutes[1], other)
    for key, step in old.items():
        if key not in new and step.minutes[1]:
            yield StepChange(step.title, step.minutes[1], None)


def change_document(each: Change) -> dict[str, Any]:
    """A change as JSON data."""
    return {
        "kind": each.kind,
        "pool": each.pool,
        "poolBefore": each.old_pool,
        "before": each.before,
        "after": each.after,
        "text": str(each),
        "steps": [{"title": row.title, "before": row.before, "after": row.after} for row in each.steps],
    }


def _range(minutes: Sequence[float]) -> str:
    low, high = (f"{round(each):d}" for each in minutes)
    return low if low == high else f"{low} to {high}"
