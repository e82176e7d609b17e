"""How long ago something was, by the times that Kubernetes writes. Pure."""

from __future__ import annotations

import datetime
from typing import Any


def seconds(since: Any, now: Any) -> float | None:
    """Seconds from one time to another; None where either is missing or is no time.

    >>> seconds("2026-11-22T11:59:00Z", "2026-11-22T12:00:00.5Z")
    60.5
    """
    began, ended = _time(since), _time(now)
    return None if began is None or ended is None else (ended - began).total_seconds()


def longer(since: Any, now: Any, least: float) -> bool:
    """Whether it is known to be longer ago than `least` seconds."""
    passed = seconds(since, now)
    return passed is not None and passed > least


def _time(given: Any) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(str(given or ""))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
