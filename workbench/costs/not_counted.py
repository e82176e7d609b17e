"""Type of the costs that are listed but not counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NotCounted:
    """A cost that the estimate does not count, and the resource types that cause it."""

    what: str
    types: tuple[str, ...]
