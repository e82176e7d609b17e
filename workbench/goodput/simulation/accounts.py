"""Hours of simulated jobs by what they were spent on, and the hours of one attempt of a job."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from workbench.goodput.model import Fleet

KINDS = ("useful", "checkpoints", "starts", "restarts", "rework", "detection", "waiting")


@dataclass
class Totals:
    """Job-hours by kind, and numbers of events by kind. A job-hour is an hour of all GPUs of a job."""

    hours: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    events: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, kind: str, hours: float) -> None:
        self.hours[kind] += hours

    def count(self, event: str) -> None:
        self.events[event] = self.events.get(event, 0) + 1


@dataclass
class Job:
    """A place for work that is always wanted: when its task ends, the next one begins on the same nodes.

    Attributes:
        nodes: Nodes that the job holds; empty while it waits.
        since: Time since which it has run, waited, or held nodes after an interruption.
        saved: Useful hours of the present task up to its last checkpoint.
        again: True if the task goes on after an interruption, and has to be restarted.
        dead: True from an interruption until the job has released its nodes.
        paused: True if the job only moves to another node, and keeps its work.
        turn: Number of changes of the job; an event of an earlier turn is ignored.
    """

    nodes: list[int] = field(default_factory=list[int])
    since: float = 0.0
    saved: float = 0.0
    again: bool = False
    dead: bool = False
    paused: bool = False
    turn: int = 0


def settle(job: Job, now: float, fleet: Fleet, totals: Totals, *, keep: bool = False) -> None:
    """Adds the hours of a running job's attempt, which ends now, to `totals`, and moves the job to its last checkpoint.

    Args:
        keep: True if the work since the last checkpoint is kept.
    """
    left = _lead(job, now - job.since, fleet, totals)
    stretch = fleet.task_hours if fleet.checkpoint is None else min(fleet.checkpoint, fleet.task_hours)
    while left > 0:
        rest = fleet.task_hours - job.saved
        writes = max(math.ceil(rest / stretch - 1e-9) - 1, 0)
        if left >= (needed := rest + writes * fleet.stall):
            totals.add("useful", rest)
            totals.add("checkpoints", writes * fleet.stall)
            left = _finish(job, left - needed, fleet, totals)
            continue
        done = math.floor(left / (stretch + fleet.stall))
        totals.add("useful", done * stretch)
        totals.add("checkpoints", done * fleet.stall)
        job.saved += done * stretch
        unsaved = left - done * (stretch + fleet.stall)
        totals.add("useful" if keep else "rework", unsaved)
        if keep:
            job.saved += min(unsaved, fleet.task_hours - job.saved)
        left = 0
    job.since = now


def _lead(job: Job, elapsed: float, fleet: Fleet, totals: Totals) -> float:
    """Hours of an attempt after its start or restart."""
    if job.paused:
        return elapsed
    kind, lead = ("restarts", fleet.restart) if job.again else ("starts", fleet.start)
    totals.add(kind, min(elapsed, lead))
    return elapsed - lead


def _finish(job: Job, left: float, fleet: Fleet, totals: Totals) -> float:
    """Ends the present task, and runs whole tasks after it. Returns the hours that remain for one more task."""
    totals.count("tasks")
    job.saved = 0.0
    stretch = fleet.task_hours if fleet.checkpoint is None else min(fleet.checkpoint, fleet.task_hours)
    each = max(math.ceil(fleet.task_hours / stretch - 1e-9) - 1, 0) * fleet.stall
    whole = math.floor(left / (fleet.start + fleet.task_hours + each))
    totals.add("starts", whole * fleet.start)
    totals.add("useful", whole * fleet.task_hours)
    totals.add("checkpoints", whole * each)
    totals.events["tasks"] += whole
    left -= whole * (fleet.start + fleet.task_hours + each)
    totals.add("starts", min(left, fleet.start))
    return left - fleet.start
