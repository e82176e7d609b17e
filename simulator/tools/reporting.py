"""Progress of downloads, builds and packages as lines of text: one at the start and one at the end of each, and in
between lines with the finished share and the estimated remaining time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from simulator.tools.families import Progress

SECONDS_BETWEEN_LINES = 30.0
SURE_SHARE = 0.03
"""Minimum finished share of the work for an estimate of the remaining time. With a smaller share, the speed so far is
too uncertain.
"""
_VERBS = {
    "build": ("building", "built"),
    "collect": ("downloading", "downloaded"),
    "download": ("downloading", "downloaded"),
    "unpack": ("unpacking", "unpacked"),
    "wait": ("waiting for another process that installs", "waited for another process that installs"),
}
_SUFFIXES = {"build": " from its Go module", "download": " from its project's release"}


@dataclass
class _Running:
    """One download or build that has begun: its latest progress, and the times of its start and of its last line."""

    latest: Progress
    began: float
    said: float


class ToolLines:
    """Reporter of progress, which prints lines with the function `say`. For a terminal, `current` returns a line that
    can be redrawn at any time. Several threads may report, each its own families.
    """

    def __init__(
        self, say: Callable[[str], None], *, regular: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates the reporter. `regular`: True to print the finished share every half minute, for output that cannot
        be redrawn.
        """
        self._say, self._regular, self._clock = say, regular, clock
        self._running: dict[str, _Running] = {}
        self._lock = threading.RLock()

    @property
    def share(self) -> float | None:
        """Finished share of the latest download or build, from 0 to 1; None while none runs, or if the total is not
        known.
        """
        with self._lock:
            latest = next(reversed(self._running.values()), None)
        return latest.latest.done / latest.latest.total if latest is not None and latest.latest.total else None

    def current(self) -> str:
        """Description of the present actions; empty if there are none."""
        now = self._clock()
        with self._lock:
            return "; ".join(_summary(each.latest, now - each.began) for each in self._running.values())

    def report(self, progress: Progress) -> None:
        with self._lock:
            for line in self._lines(progress, self._clock()):
                self._say(line)

    def _lines(self, progress: Progress, now: float) -> list[str]:
        """Lines that are due with this progress."""
        found: list[str] = []
        running = self._running.get(progress.family)
        if running is None or running.latest.action != progress.action:
            running = self._running[progress.family] = _Running(progress, now, now)
            found.append(_beginning(progress))
        elif self._regular and progress.action == "download" and running.latest.total == 0 < progress.total:
            found.append(_summary(progress, 0))  # the server has named the size
        running.latest = progress
        if progress.finished:
            del self._running[progress.family]
            found.append(_end(progress, now - running.began))
            if progress.warning:
                found.append(f"  {progress.family}: {progress.warning}")
        elif self._regular and now - running.said >= SECONDS_BETWEEN_LINES:
            running.said = now
            found.append(_summary(progress, now - running.began))
        return found


def _beginning(progress: Progress) -> str:
    text = f"{_verb(progress)}{_SUFFIXES.get(progress.action, '')}"
    return f"{text}: {progress.reason}" if progress.reason else text


def _end(progress: Progress, elapsed: float) -> str:
    size = f", {_amount(progress.total)}," if progress.action == "download" else ""
    return f"{_VERBS[progress.action][1]} {progress.family}{size} in {duration(elapsed)}"


def _verb(progress: Progress) -> str:
    return f"{_VERBS[progress.action][0]} {progress.family}"


def _summary(progress: Progress, elapsed: float) -> str:
    if progress.action == "wait":
        return _verb(progress)
    if not progress.total:
        return f"{_verb(progress)}: {'resolving packages' if progress.action == 'build' else _amount(progress.done)}"
    share = progress.done / progress.total
    rest = elapsed * (1 / share - 1) if share >= SURE_SHARE else None
    estimate = f", about {duration(rest)} left" if rest is not None and rest >= 1 else ""
    if progress.action == "build":
        done = f"{progress.done} of at most {progress.total} packages"
    elif progress.action == "download":
        done = f"{_amount(progress.done)} of {_amount(progress.total)}"
    else:
        done = f"{progress.done} of {progress.total}"
    return f"{_verb(progress)}: {done} ({share:.0%}){estimate}"


def _amount(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def duration(seconds: float) -> str:
    """A rounded duration, such as `90 s` or `10 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
