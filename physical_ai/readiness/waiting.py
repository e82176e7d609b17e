"""Repeated reading of a cluster until a condition holds or a time limit is reached. Changes between two readings are
logged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypeVar

from physical_ai.readiness.answers import Unreachable
from physical_ai.readiness.model import Outcome, Report
from physical_ai.readiness.text import changes, closed_gates
from physical_ai.servers.deadline import within

Item = TypeVar("Item")
Log = Callable[[str], None]
GatesMode = Literal["wait", "report", "skip"]

GATE_SECONDS_VARIABLE = "PHYSICAL_AI_GATE_SECONDS"
"""Environment variable with a number of seconds that replaces every time limit above 0. Tests with a simulated cluster
set it, because simulated minutes pass in seconds.
"""

GATES_VARIABLE = "PHYSICAL_AI_GATES"
"""Environment variable for the effect of closed gates on a deployment.

`report`: closed gates are reported, and do not fail the deployment. `skip`: the cluster is not read at all; for
deployments of Azure resources only.
"""
DELETES_NOTHING = (
    "The engine deletes what a stack no longer declares only after the program has succeeded, so nothing was deleted. "
    f"To delete it although a gate is closed, run the same command with {GATES_VARIABLE}=report: closed gates are then "
    "reported, and fail nothing."
)

ONCE_SECONDS, LAST_SECONDS = 120.0, 30.0
"""Time limits of a reading of the cluster, in seconds: `ONCE_SECONDS` without a wait, and `LAST_SECONDS` as the
smallest limit during a wait. So a wait may end `LAST_SECONDS` after its own limit.

A reading consists of many answers, each of which has its own limit.
"""
MIN_PAUSE, MAX_PAUSE = 0.2, 10.0
"""Shortest and longest pause between two readings, in seconds."""


def bound_seconds(minutes: int, environment: Mapping[str, str]) -> float:
    """Time limit of a wait in seconds: the value of the variable PHYSICAL_AI_GATE_SECONDS if it is set and `minutes` is
    above 0, otherwise `minutes` in seconds.

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


def gates_mode(environment: Mapping[str, str]) -> GatesMode:
    """Effect of closed gates on a deployment, from the environment.

    Raises:
        ValueError: the variable has a value other than `report` and `skip`.
    """
    match environment.get(GATES_VARIABLE, ""):
        case "":
            return "wait"
        case "report" | "skip" as mode:
            return mode
        case text:
            raise ValueError(f"{GATES_VARIABLE} is {text!r}; write report or skip, or leave it out.")


def pause(elapsed: float, bound: float) -> float:
    """Seconds until the next read: a tenth of the elapsed time, so that a wait is never much longer than needed.

    >>> pause(1, 2700), pause(60, 2700), pause(600, 2700)
    (0.2, 6.0, 10.0)
    """
    return min(MAX_PAUSE, max(MIN_PAUSE, bound / 100), max(MIN_PAUSE, elapsed / 10))


async def _reading(read: Callable[[], Sequence[Item]], bound: float, elapsed: float) -> Sequence[Item]:
    """Result of `read`, which runs in a thread of its own.

    If the server's answers take longer than the time limit, the thread is abandoned.

    Raises:
        TimeoutError: the reading took too long. Exceptions of `read` are passed on.
    """
    seconds = max(bound - elapsed, LAST_SECONDS) if bound else ONCE_SECONDS
    try:
        return await asyncio.to_thread(within, seconds, read)
    except TimeoutError:
        slow = "each of its answers is slow, and they have no end together"
        raise TimeoutError(f"the cluster was not read within {seconds:g} s: {slow}") from None


async def wait(
    read: Callable[[], Sequence[Report]],
    bound: float,
    log: Log,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Reads until all gates are open, for at most `bound` seconds (once if it is 0), and returns the outcome.

    `read` runs in its own thread.

    A gate whose cause needs an action is logged at once, and the wait continues: real clusters recover when a person
    acts, or by retries that the diagnosis does not know.

    Raises:
        Unusable: `read` raised it; a retry would not help.
    """
    began = clock()
    reports: tuple[Report, ...] = ()
    logged: Mapping[tuple[str, str], str] = {}
    last_problem = ""
    while True:
        try:
            reports, problem = tuple(await _reading(read, bound, clock() - began)), ""
        except (Unreachable, TimeoutError) as failure:
            problem = str(failure)
            if problem != last_problem:
                log(f"the API server does not answer: {problem}")
        last_problem = problem
        if not problem:
            for line in changes(logged, reports):
                log(line)
            logged = closed_gates(reports)
        outcome = Outcome(reports, clock() - began, problem)
        left = bound - outcome.seconds
        if outcome.is_open or left <= 0:
            return outcome
        await sleep(min(pause(outcome.seconds, bound), left))


async def wait_until_empty(
    read: Callable[[], Sequence[str]],
    bound: float,
    log: Log,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Reads a list until it is empty, for at most `bound` seconds, and returns what is left. New items are logged.

    `read` runs in its own thread. A read that failed (`Unreachable`) or took too long counts as an item.

    Raises:
        Unusable: `read` raised it.
    """
    began = clock()
    logged: set[str] = set()
    while True:
        try:
            left = list(await _reading(read, bound, clock() - began))
        except (Unreachable, TimeoutError) as failure:
            left = [f"the API server does not answer: {failure}"]
        for line in left:
            if line not in logged:
                log(line)
        logged = set(left)
        elapsed = clock() - began
        if not left or elapsed >= bound:
            return left
        await sleep(min(pause(elapsed, bound), bound - elapsed))
