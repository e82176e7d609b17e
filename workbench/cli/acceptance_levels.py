"""Levels of acceptance as values of options. They are the catalogue's, which takes a third of a second to load."""

from __future__ import annotations

from typing import Literal

AcceptanceLevel = Literal["quick", "full", "burn-in"]
LEVELS: tuple[AcceptanceLevel, ...] = ("quick", "full", "burn-in")
"""Levels from the shortest to the most thorough."""
