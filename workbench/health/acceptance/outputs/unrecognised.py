"""Error for output that a reader does not understand."""

from __future__ import annotations

from grid_agent.report.plain import plain


class Unrecognised(ValueError):
    """Error for a text that is incomplete, or that the tool does not print. From such a text, nothing can be concluded
    about the node.
    """


def last_line(text: str) -> str:
    """The last line of a text that is not blank, shortened and without control characters, for a message."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next(filter(None, (plain(line, 200) for line in reversed(lines))), "no output")
