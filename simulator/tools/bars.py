"""Output of `python -m simulator.tools`: what is missing, and on a terminal a bar for each tool and the packages."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence

from simulator.tools.families import Family, Progress
from simulator.tools.install import Missing
from simulator.tools.reporting import ToolLines, duration

BAR = 6
"""Number of characters in a bar."""
SECONDS_BETWEEN_REDRAWS = 0.1
_CLEAR = "\r\x1b[K"


def announcement(missing: Missing, cores: int, packages: str = "") -> str:
    """Note on what is missing and how it is obtained, with a rough estimate of the time of builds; empty if nothing is
    missing.

    Downloads take seconds and do not count. A download that fails becomes a build, which says then how long it takes.

    Args:
        packages: Python packages that are installed, too, such as `49 Python packages of requirements.txt`.
    """
    downloads, builds = len(missing.downloads), len(missing.builds)
    parts = [packages] if packages else []
    if downloads or builds:
        ways = [_count(downloads, "download")] if downloads else []
        ways += [f"{_count(builds, 'build')} from source"] if builds else []
        estimate = f", {build_time(missing.builds, cores)}" if builds else ""
        parts.append(f"{_count(downloads + builds, 'tool')}: {', '.join(ways)}{estimate}")
    return f"installing {' and '.join(parts)}" if parts else ""


def build_time(families: Sequence[Family], cores: int) -> str:
    """Rough time of the builds of some families."""
    seconds = sum(family.seconds for family in families) / cores
    return f"about {duration(seconds)} on {_count(cores, 'core')}"


def usable_cores() -> int:
    return os.cpu_count() or 1


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class ToolBars:
    """One line at the bottom of a terminal that is redrawn: a bar for each tool, followed by the present action."""

    def __init__(
        self, missing: Missing, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates a bar for each missing tool. `write`: function that prints text without a line break."""
        self._write, self._clock = write, clock
        self._shares = {family.name: 0.0 for family in (*missing.downloads, *missing.builds)}
        self._lines = ToolLines(lambda line: write(f"{_CLEAR}{line}\n"), regular=False, clock=clock)
        self._drawn = float("-inf")
        self._lock = threading.Lock()

    def report(self, progress: Progress) -> None:
        with self._lock:
            self._report(progress)

    def _report(self, progress: Progress) -> None:
        before = self._lines.current()
        self._lines.report(progress)
        self._shares[progress.family] = _share(progress)
        now = self._clock()
        if progress.finished or not before or now - self._drawn >= SECONDS_BETWEEN_REDRAWS:
            self._drawn = now
            # A line that fills the last column would wrap, and could not be redrawn.
            self._write(f"{_CLEAR}{self.line()[: shutil.get_terminal_size().columns - 1]}")

    def line(self) -> str:
        bars = "  ".join(f"{name} {_bar(share)}" for name, share in self._shares.items())
        current = self._lines.current()
        return f"{bars}  {current}" if current else bars

    def close(self) -> None:
        """Removes the line from the terminal."""
        self._write(_CLEAR)


def _share(progress: Progress) -> float:
    """Finished share of a family, from 0 to 1. Of Python packages the download is one half, and the unpacking the
    other.
    """
    share = 1.0 if progress.finished else min(progress.done / progress.total, 1.0) if progress.total else 0.0
    return {"wait": 0.0, "collect": share / 2, "unpack": (1 + share) / 2}.get(progress.action, share)


def _bar(share: float) -> str:
    """A bar for a share from 0 to 1.

    >>> _bar(0.5)
    '###...'
    """
    return ("#" * int(share * BAR)).ljust(BAR, ".")
