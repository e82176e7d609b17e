"""Steps to the first Pod with a GPU, and the longest path through them.

>>> steps = [Step("disk", "disk", (1, 3)), Step("vm", "machine", (2, 5), needs=("disk",)), Step("name", "name", (0, 4))]
>>> path = longest(steps, "vm")
>>> path.minutes, [each.key for each in path.slow]
((3, 8), ['disk', 'vm'])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.costs.schedule import Activity, Placed, Schedule, schedule

Known = Literal["measured", "published", "estimate"]
"""Origin of a step's minutes: a recording of the stack, the source that the catalogue names, or this project."""
Range = tuple[float, float]
"""Least and most minutes."""


@dataclass(frozen=True)
class Step:
    """One step, with the steps that must end before it begins."""

    key: str
    """Name that is unique among the steps of a path, and equal before and after a change of the stack."""
    title: str
    minutes: Range
    known: Known = "estimate"
    source: str = ""
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Path:
    """The longest path to one step, in the fast and in the slow case. The cases can take different ways."""

    steps: Mapping[str, Step]
    """All steps that the last one waits for, and the last one itself, by their keys."""
    fast_case: Schedule
    slow_case: Schedule

    @property
    def minutes(self) -> Range:
        return self.fast_case.minutes, self.slow_case.minutes

    @property
    def slow(self) -> tuple[Step, ...]:
        """Steps of the longest path in the slow case, from the first to the last."""
        return tuple(self.steps[each.step.name] for each in self.slow_case.path)

    def placed(self, key: str) -> Placed:
        """Beginning and end of a step in the slow case."""
        return self.slow_case.steps[key]


def longest(steps: Iterable[Step], last: str) -> Path:
    """The longest path to the step with the key `last`. Names in `needs` that are no steps are ignored.

    Raises:
        KeyError: no step has the key `last`.
        ValueError: the steps wait for each other.
    """
    needed = before({each.key: each for each in steps}, last)
    fast, slow = (
        schedule(Activity(each.key, each.minutes[case], each.needs) for each in needed.values()) for case in (0, 1)
    )
    return Path(needed, *(_ending(each, last) for each in (fast, slow)))


def before(steps: Mapping[str, Step], last: str) -> dict[str, Step]:
    """The step with the key `last`, and all steps that it waits for, directly or through others."""
    found: dict[str, Step] = {}
    waiting = [last]
    while waiting:
        key = waiting.pop()
        if key not in found:
            found[key] = steps[key]
            waiting += [need for need in steps[key].needs if need in steps]
    return {key: each for key, each in steps.items() if key in found}


def _ending(found: Schedule, last: str) -> Schedule:
    """The schedule with its path up to the step `last`. If this step takes no time, another step may end with it."""
    path: list[Placed] = []
    here: Placed | None = found.steps[last]
    while here is not None:
        path.append(here)
        needs = [found.steps[each] for each in here.step.needs if each in found.steps]
        here = max(needs, key=lambda each: each.end, default=None)
    return replace(found, path=tuple(reversed(path)))
