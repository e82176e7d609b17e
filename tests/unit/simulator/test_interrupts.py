"""What a signal does to an engine at work. What the engine then writes down: `tests/simulator/test_interrupted.py`."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, cast

import psutil
import pytest

from simulator import interrupts


class Engine:
    """Stands for a running engine."""

    def __init__(self) -> None:
        self.received: list[int | str] = []

    def send_signal(self, number: int) -> None:
        self.received.append(number)

    def kill(self) -> None:
        self.received.append("kill")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("from_terminal", "passed_on"), [(False, [signal.SIGINT]), (True, [])])
def test_the_engine_may_end_on_the_first_signal_and_is_killed_on_the_second(
    number: signal.Signals, from_terminal: bool, passed_on: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal interrupts the engine itself."""
    monkeypatch.setattr(interrupts, "_comes_from_terminal", lambda: from_terminal)
    engine, before = Engine(), signal.getsignal(number)
    with interrupts.graceful_interrupts(lambda: [cast("psutil.Process", engine)]) as seen:
        handler = cast("Callable[[int, Any], None]", signal.getsignal(number))
        handler(number, None)
        assert (seen, engine.received) == ([number], passed_on)
        handler(number, None)
        assert engine.received == [*passed_on, "kill"]
    assert signal.getsignal(number) is before
