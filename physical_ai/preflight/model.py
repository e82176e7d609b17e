"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check ended, gravest last."""

    OK = "ok"
    UNKNOWN = "unknown"
    """Nobody could be asked."""
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    status: Status
    topic: str
    """What kind of check it is: quota, size, region, kubernetes, provider, role, tool, settings."""
    subject: str
    """What it is about: a usage, a pool, a namespace."""
    message: str
    fix: str | None = None
    source: str | None = None
    """Who says so: Azure, the catalogue, this machine."""
