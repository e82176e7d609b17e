"""Progress of downloads and builds as lines of text: one at the start and one at the end of each, and in between lines
with the finished share and the estimated remaining time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from simulator.tools.families import Progress

SECONDS_BETWEEN_LINES = 30.0
SURE_SHARE = 0.03
"""Minimum finished share of the work for an estimate of the remaining time. With a smaller share, the speed so far is
too uncertain.
"""
_VERBS = {"build": ("building", "built"), "download": ("downloading", "downloaded")}


class ToolLines:
    """Reporter of progress, which prints lines with the function `say`. For a terminal, `current` returns a line that
    can be redrawn at any time.
    """

    def __init__(
        self, say: Callable[[str], None], *, regular: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates the reporter. `regular`: True to print the finished share every half minute, for output that cannot
        be redrawn.
        """
        self._say, self._regular, self._clock = say, regular, clock
        self._latest: Progress | None = None
        self._began = self._said = 0.0

    @property
    def share(self) -> float | None:
        """Finished share, from 0 to 1; None while no download or build runs, or if the total is not known."""
        latest = self._latest
        return latest.done / latest.total if latest is not None and latest.total else None

    def current(self) -> str:
        """Description of the present action; empty if there is none."""
        latest = self._latest
        return _summary(latest, self._clock() - self._began) if latest is not None else ""

    def report(self, progress: Progress) -> None:
        now = self._clock()
        if self._latest is None or _key(self._latest) != _key(progress):
            self._began = self._said = now
            self._say(_beginning(progress))
        self._latest = progress
        if progress.finished:
            self._latest = None
            self._say(f"{_VERBS[progress.action][1]} {progress.family} in {duration(now - self._began)}")
        elif self._regular and now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            self._say(self.current())


def _key(progress: Progress) -> tuple[str, str]:
    return progress.family, progress.action


def _beginning(progress: Progress) -> str:
    if progress.action == "download":
        return f"downloading {progress.family} from its project's release"
    return f"building {progress.family} from its Go module{f': {progress.reason}' if progress.reason else ''}"


def _summary(progress: Progress, elapsed: float) -> str:
    verb = f"{_VERBS[progress.action][0]} {progress.family}"
    if not progress.total:
        return f"{verb}: {'resolving packages' if progress.action == 'build' else _amount(progress.done)}"
    share = progress.done / progress.total
    rest = elapsed * (1 / share - 1) if share >= SURE_SHARE else None
    estimate = f", about {duration(rest)} left" if rest is not None and rest >= 1 else ""
    if progress.action == "build":
        done = f"{progress.done} of at most {progress.total} packages"
    else:
        done = f"{_amount(progress.done)} of {_amount(progress.total)}"
    return f"{verb}: {done} ({share:.0%}){estimate}"


def _amount(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def duration(seconds: float) -> str:
    """A rounded duration, such as `90 s` or `10 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
