"""Looks again and again until every gate is open or a bound is reached, and tells what changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.readiness import rollout
from physical_ai.readiness.model import Report
from physical_ai.readiness.reader import Unreachable
from physical_ai.readiness.text import changes, standing

Look = Callable[[], Sequence[Report]]
Tell = Callable[[str], None]

GATE_SECONDS_VARIABLE = "PHYSICAL_AI_GATE_SECONDS"
"""Environment variable that replaces a bound above 0, in seconds: where minutes pass in seconds, so should patience."""

SHORTEST, LONGEST = 0.2, 10.0
"""Seconds between two looks."""


@dataclass(frozen=True)
class Outcome:
    """How a wait ended."""

    reports: tuple[Report, ...]
    """Of the last look that had an answer."""
    seconds: float
    problem: str = ""
    """Why the last look had no answer; empty when it had one."""

    @property
    def is_open(self) -> bool:
        return not self.problem and not any(report.shut for report in self.reports)

    @property
    def is_only_rollout(self) -> bool:
        """Every node offers its GPUs, and a change is still on its way to some."""
        gates = {shut.gate for report in self.reports for shut in report.shut}
        return not self.problem and gates == {rollout.GATE}


def bound_seconds(minutes: int, environment: Mapping[str, str]) -> float:
    """How long to wait, in seconds; the environment shortens a wait and never begins one.

    Raises:
        ValueError: the variable is not a number of at least 0.
    """
    text = environment.get(GATE_SECONDS_VARIABLE)
    if text is None or minutes == 0:
        return minutes * 60.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{GATE_SECONDS_VARIABLE} is {text!r}; write seconds, such as 60.")
    return seconds


def pause(elapsed: float, bound: float) -> float:
    """Seconds until the next look: a tenth of the time already waited, so that nobody waits much longer than needed.

    >>> pause(1, 2700), pause(60, 2700), pause(600, 2700)
    (0.2, 6.0, 10.0)
    """
    return min(LONGEST, max(SHORTEST, bound / 100), max(SHORTEST, elapsed / 10))


async def wait(
    look: Look,
    bound: float,
    tell: Tell,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Looks until all is open, at most `bound` seconds; with 0 just once. `look` runs in a thread of its own.

    A gate whose cause needs somebody to act is told at once, and waited for all the same: real clusters recover when
    somebody acts, or by retries that nobody foresaw.

    Raises:
        Unusable: as `look` does; there is no point in asking again.
    """
    began = clock()
    reports: tuple[Report, ...] = ()
    told: Mapping[tuple[str, str], str] = {}
    complaint = ""
    while True:
        try:
            reports, problem = tuple(await asyncio.to_thread(look)), ""
        except Unreachable as failure:
            problem = str(failure)
            if problem != complaint:
                tell(f"the API server gives no answer: {problem}")
        complaint = problem
        if not problem:
            for line in changes(told, reports):
                tell(line)
            told = standing(reports)
        outcome = Outcome(reports, clock() - began, problem)
        left = bound - outcome.seconds
        if outcome.is_open or left <= 0:
            return outcome
        await sleep(min(pause(outcome.seconds, bound), left))


async def until_nothing(
    look: Callable[[], Sequence[str]],
    bound: float,
    tell: Tell,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Looks until nothing is left, at most `bound` seconds; what is left then. Changes are told as they come.

    `look` runs in a thread of its own. What it cannot find out (`Unreachable`) counts as something left.

    Raises:
        Unusable: as `look` does.
    """
    began = clock()
    told: set[str] = set()
    while True:
        try:
            left = list(await asyncio.to_thread(look))
        except Unreachable as failure:
            left = [f"the API server gives no answer: {failure}"]
        for line in left:
            if line not in told:
                tell(line)
        told = set(left)
        elapsed = clock() - began
        if not left or elapsed >= bound:
            return left
        await sleep(min(pause(elapsed, bound), bound - elapsed))
