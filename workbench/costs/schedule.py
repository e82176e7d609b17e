"""Schedule of steps that wait for each other, and its critical path.

>>> plan = schedule([Activity("disk", 3), Activity("machine", 5, ("disk",)), Activity("name", 1)])
>>> plan.minutes, [each.step.name for each in plan.path]
(8, ['disk', 'machine'])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter


@dataclass(frozen=True)
class Activity:
    """One step with its duration. `needs`: names of the steps that must end before this step begins."""

    name: str
    minutes: float
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placed:
    """A step with its start and end in minutes. The step begins as soon as the steps that it needs have ended."""

    step: Activity
    start: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """All steps with their times, and the critical path. The critical path is the chain of steps that determines the
    total time: each of its steps begins when the previous one ends.
    """

    steps: Mapping[str, Placed]
    path: tuple[Placed, ...]

    @property
    def minutes(self) -> float:
        return self.path[-1].end if self.path else 0


def schedule(steps: Iterable[Activity]) -> Schedule:
    """Schedule in which each step begins as soon as the steps in its `needs` have ended. A name in `needs` that is not
    among the steps is ignored.
    """
    known = {each.name: each for each in steps}
    order = TopologicalSorter({name: [need for need in step.needs if need in known] for name, step in known.items()})
    placed: dict[str, Placed] = {}
    try:
        for name in order.static_order():
            step = known[name]
            start = max((placed[need].end for need in step.needs if need in placed), default=0)
            placed[name] = Placed(step, start, start + step.minutes)
    except CycleError as error:
        raise ValueError(f"these steps wait for each other: {', '.join(error.args[1])}") from None
    return Schedule(placed, _path(placed))


def _path(placed: Mapping[str, Placed]) -> tuple[Placed, ...]:
    """Steps of the critical path, from the first one to the one that ends last."""
    last = max(placed.values(), key=lambda each: each.end, default=None)
    path: list[Placed] = []
    while last is not None:
        path.append(last)
        before = [placed[need] for need in last.step.needs if need in placed]
        last = max(before, key=lambda each: each.end, default=None)
    return tuple(reversed(path))
