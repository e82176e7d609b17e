"""Refusal of text that is not a tool's output."""

from __future__ import annotations

from grid_agent.report.plain import plain


class Unrecognised(ValueError):
    """Error if the text is not what the tool prints, or stops before its end. No conclusion can be drawn from it."""


def last_line(text: str) -> str:
    """The last line that is not blank, shortened and without control characters, for messages."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next(filter(None, (plain(line, 200) for line in reversed(lines))), "no output")
