"""Reason why a process of a control plane ended, taken from its log. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FULL_DISK = "no space left on device"
"""Text of Go's error for a full disk (ENOSPC). etcd prints a stack trace after the error, so the error is not among the
last lines of the log.
"""
NEEDED_MIB = 140
"""Space in MiB with which a control plane was seen to start and to hold the default stack (2026-11, a tmpfs of that
size)."""


def last_words(log: Sequence[str], folder: Path) -> str:
    """Reason why a process ended: the log's line about a full disk or, without such a line, the log's last lines."""
    full = next((line for line in log if FULL_DISK in line.lower()), "")
    if full:
        return (
            f"  {full[:300]}\n"
            f"  There is no space left for {folder}.\n"
            f"  Free some, at least {NEEDED_MIB} MiB, or let PHYSAI_HOME name a folder on another disk."
        )
    return "\n".join(f"  {line[:300]}" for line in log[-5:])
