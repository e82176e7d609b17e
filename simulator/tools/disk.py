"""Errors of the disk on which tools are installed, as messages that say what to do."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from simulator.tools.errors import BuildFailed

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
NEEDED = "downloads of all tools take 1 GB, builds 6 GB with Go's own caches"
# Measured in November 2026: 0.6 GB of commands; 3 GB of modules and 2 GB of compiled packages.


@contextmanager
def writing(cache: Path) -> Generator[None]:
    """Turns errors of the disk while the block writes to `cache` into `BuildFailed`."""
    try:
        yield
    except OSError as problem:
        if problem.errno in FULL:
            raise BuildFailed(
                f"there is no space left for {cache}{_free(cache)}: {NEEDED}.\n"
                "  Free some, or name a folder on another disk with PHYSAI_HOME."
            ) from None
        if problem.errno in FORBIDDEN:
            raise BuildFailed(
                f"{problem.filename or cache} cannot be written: {problem.strerror}.\n"
                "  Name a folder of your own with PHYSAI_HOME, or make this one writable."
            ) from None
        raise


def _free(cache: Path) -> str:
    try:
        return f" ({shutil.disk_usage(cache).free / 1e6:.0f} MB are free)"
    except OSError:
        return ""
