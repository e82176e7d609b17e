"""Pause before the next request to a busy server. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TOO_MANY, UNAVAILABLE = 429, 503
FIRST_PAUSE = 1.0
"""Seconds before the second try where a busy server names no time; doubled for each further try."""


def pause(status: int, headers: Mapping[str, str], tried: int) -> float | None:
    """Seconds to wait before the next try; None where the answer is final.

    Args:
        headers: Headers of the answer, with names in lower case.
        tried: Number of requests so far.
    """
    named = headers.get("retry-after")
    if status not in (TOO_MANY, UNAVAILABLE) or (status == UNAVAILABLE and named is None):
        return None
    wanted = None if named is None else _seconds(named, headers.get("date"))
    return FIRST_PAUSE * 2 ** (tried - 1) if wanted is None else wanted


def _seconds(text: str, now: str | None) -> float | None:
    """Seconds in a header Retry-After: a number, or a date, read by the server's own clock. None for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])  # 30,000 years at most
    try:
        until, since = parsedate_to_datetime(text), parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (until - since).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
