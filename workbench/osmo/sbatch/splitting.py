"""Splitting of a line of options as `sbatch` does it (`get_argument` in src/sbatch/opt.c of SchedMD/slurm)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = re.compile(r"[^\s\\'\"#]+")
_QUOTED = {"'": re.compile(r"[^\\']+"), '"': re.compile(r'[^\\"]+')}
_BLANK = re.compile(r"\s*")


class Unclosed(Exception):
    """Error for a quote that is never closed."""


@dataclass(frozen=True)
class Line:
    """Words of one line of `sbatch` options."""

    words: tuple[str, ...]
    cut: str | None
    """Word directly before a `#` that begins a comment, such as `name` in `name#comment`; None if there is no such
    word.
    """


def split(text: str) -> Line:
    """The words of a line of options. Raises `Unclosed` if a quote is not closed."""
    words: list[str] = []
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank is not None else at
        if at >= len(text):
            return Line(tuple(words), None)
        if text[at] == "#":
            return Line(tuple(words), None)
        word, at = _word(text, at)
        words.append(word)
        if text[at : at + 1] == "#":
            return Line(tuple(words), word)


def _word(text: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    quote = ""
    while at < len(text):
        character = text[at]
        if found := (_QUOTED[quote] if quote else _PLAIN).match(text, at):
            parts.append(found[0])
            at = found.end()
        elif character == "\\":
            parts.append(text[at + 1 : at + 2])
            at += 2
        elif quote or character in "'\"":
            quote = "" if quote else character
            at += 1
        else:
            break
    if quote:
        raise Unclosed(quote)
    return "".join(parts), min(at, len(text))
