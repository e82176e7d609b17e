"""Text of other programs, made fit for a condition, an event, a log, or a terminal."""

from __future__ import annotations

LONGEST, LONGEST_SENTENCE = 300, 4000
"""Characters of a line of another program, and of a sentence of the agent's own."""


def plain(text: str, longest: int = LONGEST) -> str:
    """One line without control characters, so that no program's output moves a cursor, rings, or forges a line.

    >>> plain("GPU is lost\\x1b[31m\\x07")
    'GPU is lost [31m'
    """
    shown = "".join(each if each.isprintable() else " " for each in text[: 4 * longest])
    return " ".join(shown.split())[:longest]
