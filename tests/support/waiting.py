"""Waits in tests. The limit is one that a busy machine does not reach, and a failure says what was seen last."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LIMIT = 300.0
"""Limit in seconds. It is far more than anything takes on an idle machine, and less than pytest's limit for a test."""
SHOWN = 8000
"""Number of characters of the last state that a failure shows."""


def until(
    condition: Callable[[], Any],
    problem: str,
    *,
    state: Callable[[], Any] | None = None,
    seconds: float = LIMIT,
    every: float = 0.1,
) -> Any:
    """Calls `condition` every `every` seconds until its answer is true, and returns that answer.

    Args:
        problem: text about what is wrong while the condition is not true, such as "the Pod does not run".
        state: returns what a failure shows; by default it shows the last answer.

    Raises:
        AssertionError: `condition` has given no true answer within `seconds`.
    """
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            raise AssertionError(_failure(f"{problem}, after {seconds:g} s", answer, state))
        time.sleep(every)
    return answer


def remains(
    condition: Callable[[], Any],
    problem: str,
    *,
    state: Callable[[], Any] | None = None,
    seconds: float = 1.5,
    every: float = 0.1,
) -> None:
    """Asserts that a condition holds during `seconds`, which is longer than a change would need.

    A busy machine can hide a change here, but cannot make the test fail.

    Raises:
        AssertionError: the condition does not hold at some time.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not (answer := condition()):
            raise AssertionError(_failure(problem, answer, state))
        time.sleep(every)


def _failure(problem: str, answer: Any, state: Callable[[], Any] | None) -> str:
    return f"{problem}\nlast state: {str(answer if state is None else state())[-SHOWN:]}"
