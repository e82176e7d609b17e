"""Handling of Ctrl-C while the engine works: the engine gets time to record what it has done."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import FrameType

import psutil


@contextmanager
def graceful_interrupts(engines: Callable[[], Iterable[psutil.Process]]) -> Generator[list[int]]:
    """Handles Ctrl-C while the engine works: the first interrupt lets the engine end by itself, the second one kills
    the engine. Yields the list of received signals.

    A terminal sends Ctrl-C to the engine as well. A signal that only this process has received is passed on to the
    engine.
    """
    seen: list[int] = []

    def interrupted(number: int, _: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            for engine in engines():
                engine.kill()
        elif not _comes_from_terminal():
            for engine in engines():
                engine.send_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def as_interrupts() -> Generator[None]:
    """Treats SIGTERM like Ctrl-C, so that the command cleans up."""

    def interrupted(number: int, _: FrameType | None) -> None:
        del number
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _comes_from_terminal() -> bool:
    """True if this process is in the terminal's foreground job: then Ctrl-C reaches all processes of the job."""
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
