"""Work in a limited process: its answers, and what stops it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from physical_ai.untrusted.process import Limit, Stopped, run, run_each

LIMIT = Limit(seconds=0.5, memory=64 << 20, patience=60)


def forever() -> None:
    while True:
        pass


def endless_library_call() -> int:
    return len(str(pow(3, 10**8)))  # written as `**`, the type checker works it out too


def all_memory() -> int:
    return len(b"x" * (1 << 30))


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def no_json() -> Any:
    return object()


def test_the_answer_comes_back() -> None:
    assert run(lambda: {"a": [1, None]}, LIMIT) == {"a": [1, None]}


@pytest.mark.parametrize("work", [forever, endless_library_call, all_memory, killed, no_json])
def test_failing_work_is_stopped_and_the_rest_continues(work: Callable[[], Any]) -> None:
    answers = list(run_each([lambda: 1, work, lambda: 2, work, lambda: 3], LIMIT))
    assert [answer for answer in answers if not isinstance(answer, Stopped)] == [1, 2, 3]
    assert [isinstance(answer, Stopped) for answer in answers] == [False, True, False, True, False]
    assert multiprocessing.active_children() == []


def test_the_limit_is_of_each_piece_of_work() -> None:
    def some() -> int:
        return sum(range(1_000_000)) and 1

    assert list(run_each([some] * 20, Limit(2.0, 64 << 20, 60))) == [1] * 20


def test_work_that_waits_is_stopped_by_the_clock() -> None:
    with pytest.raises(Stopped):
        run(signal.pause, Limit(1.0, 64 << 20, patience=0.2))


def test_work_sees_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "x")
    assert run(lambda: dict(os.environ), LIMIT) == {}


def test_work_can_start_limited_work_of_its_own() -> None:
    assert run(lambda: run(lambda: 5, LIMIT), LIMIT) == 5
