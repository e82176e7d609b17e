"""Commands in the documentation's pages: from shell blocks, and from inline code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.documentation import name, pages, parts

SHELLS = ("sh", "bash", "shell")
_OURS = ("physai", "make")
_OPERATORS = set("();|&")
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_INNER = re.compile(r"\$\(([^()]*)\)")
_REDIRECTION = re.compile(r"\d?>>?|<")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """Command, split into words as a shell does it."""

    page: str
    words: tuple[str, ...]
    complete: bool
    """True if the command is from a shell block, and so complete. A sentence may contain only a part of a command."""


def commands(page: Path) -> Iterator[Command]:
    """Every command of a page's shell blocks, and this project's own commands in the page's sentences."""
    prose, blocks = parts(page)
    for block in blocks:
        if block.info.split(" ")[0] in SHELLS:
            for words in split(block.text):
                yield Command(name(page), words, complete=True)
    for code in _INLINE.findall("\n".join(prose)):
        if code.split(" ")[0] in _OURS or "$(physai" in code:
            for words in split(" ".join(code.split())):
                yield Command(name(page), words, complete=False)


def every_command() -> list[Command]:
    """All commands of all pages; a command that a page repeats is listed once for the page."""
    return list(dict.fromkeys(command for page in pages() for command in commands(page)))


def split(text: str) -> Iterator[tuple[str, ...]]:
    """Splits a shell text into simple commands, including those in `$( )`. Assignments before a command are dropped.

    >>> list(split("A=1 make up  # now\\nx=$(physai env) && ls"))
    [('physai', 'env'), ('make', 'up'), ('ls',)]
    """
    joined = re.sub(r"\d?>&\d", "", text.replace("\\\n", " "))
    for inner in _INNER.findall(re.sub(r"(^|\s)#.*", "", joined)):
        yield from split(inner)
    for line in _lines(joined):
        lexer = shlex.shlex(_INNER.sub("…", line), posix=True, punctuation_chars="();|&")
        lexer.whitespace_split = True
        words: list[str] = []
        for token in [*lexer, ";"]:
            if set(token) <= _OPERATORS:
                if words := _bare(_undirected(words)):
                    yield tuple(words)
                words = []
            else:
                words.append(token)


def _lines(text: str) -> Iterator[str]:
    """Lines of a text; the lines of a quotation are joined."""
    kept = ""
    for line in text.splitlines():
        kept = f"{kept}\n{line}" if kept else line
        try:
            shlex.split(kept, comments=True)
        except ValueError:
            continue
        yield kept
        kept = ""
    if kept:
        raise ValueError(f"unterminated quotation: {kept}")


def _undirected(words: list[str]) -> list[str]:
    """Words of a command without its redirections, such as `> FILE`."""
    kept: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if _REDIRECTION.fullmatch(word):
            rest = rest[1:]
        elif not _REDIRECTION.match(word) or word.startswith("<"):
            kept.append(word)
    return kept


def _bare(words: list[str]) -> list[str]:
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in {"{", "}"}):
        words = words[1:]
    return words
