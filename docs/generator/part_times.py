"""Time of the tests of each optional part, run alone as a contributor to the part runs them."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TARGET = 20
"""Seconds that the tests of one part may take."""
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
"""Arguments of Python that run tests in one process."""
_COUNT = re.compile(r"(\d+) passed")


@dataclass(frozen=True)
class PartTime:
    """Time of one run of a part's tests."""

    part: str
    tests: int
    """Number of tests that passed; 0 if the run failed."""
    processor: float
    """Seconds of processor time, children included."""
    wall: float
    """Seconds until the run ended, which other work on the machine makes longer."""


def part_times(root: Path, parts: Sequence[str]) -> Iterator[PartTime]:
    """Runs the tests of each part that has some, one part after the other."""
    for part in parts:
        folder = root / "tests" / "unit" / "parts" / part
        if folder.is_dir():
            yield _measured(root, folder)


def _measured(root: Path, folder: Path) -> PartTime:
    # Compiled modules are kept: a contributor's second run is the usual one.
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    begin, before = time.monotonic(), _of_children()
    done = subprocess.run(
        [sys.executable, *PYTEST, str(folder)], cwd=root, capture_output=True, text=True, check=False, env=kept
    )
    count = _COUNT.search(done.stdout)
    passed = int(count[1]) if count and not done.returncode else 0
    return PartTime(folder.name, passed, _of_children() - before, time.monotonic() - begin)


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
