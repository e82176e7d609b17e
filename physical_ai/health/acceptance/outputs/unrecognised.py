"""The refusal of text that is not a tool's output."""

from __future__ import annotations


class Unrecognised(ValueError):
    """The text is not what the tool prints, or stops before its end. Nothing follows from it."""


def last_line(text: str) -> str:
    """The last line that says something, shortened; for messages."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
