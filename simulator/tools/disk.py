"""Errors of the disk on which tools are installed, as messages that say what to do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from physical_ai.disk_errors import sentence
from simulator.tools.errors import BuildFailed

NEEDED = "downloads of all tools take 1 GB, builds 6 GB with Go's own caches"
# Measured in November 2026: 0.6 GB of commands; 3 GB of modules and 2 GB of compiled packages.


@contextmanager
def writing(cache: Path) -> Generator[None]:
    """Turns errors of the disk while the block uses `cache` into `BuildFailed`."""
    try:
        yield
    except OSError as problem:
        if text := sentence(problem, cache, NEEDED):
            raise BuildFailed(text) from None
        raise
