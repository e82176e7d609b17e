"""What a version rule says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""Mildest first."""

Subject = Literal["operator", "kubernetes", "containerd", "toolkit", "driver", "node image", "cdi", "nri", "chart"]


@dataclass(frozen=True)
class Verdict:
    """One thing known about a combination of versions."""

    severity: Severity
    """`error`: does not work, or is out of support. `warning`: untested or soon out of it. `info`: worth knowing."""
    rule: str
    subject: Subject
    """The part to look at."""
    message: str
    fix: str
    """The way out; of mere information, what to do about it."""
    source: str


def reaches(severity: Severity, least: Severity) -> bool:
    """Whether a severity is as grave as `least`, or graver."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(least)
