"""Waiting in tests: a limit that a busy machine does not reach, and a failure that says what was seen last."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LIMIT = 300.0
"""Seconds. Far more than anything takes on an idle machine, and less than pytest's limit of a test."""
SHOWN = 8000
"""Characters of the last state in a failure."""


def until(
    condition: Callable[[], Any],
    problem: str,
    *,
    state: Callable[[], Any] | None = None,
    seconds: float = LIMIT,
    every: float = 0.1,
) -> Any:
    """The first true answer of `condition`, which is asked every `every` seconds.

    Args:
        problem: what is wrong as long as the condition is not true, as in "the Pod does not run".
        state: what a failure shows; by default the last answer.

    Raises:
        AssertionError: when there is no true answer within `seconds`.
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
    """A condition holds, and goes on holding for longer than anything would need to change it.

    A busy machine can hide a change here, but cannot make the test fail.

    Raises:
        AssertionError: when it does not hold at some time.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not (answer := condition()):
            raise AssertionError(_failure(problem, answer, state))
        time.sleep(every)


def _failure(problem: str, answer: Any, state: Callable[[], Any] | None) -> str:
    return f"{problem}\nlast state: {str(answer if state is None else state())[-SHOWN:]}"
