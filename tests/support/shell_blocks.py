"""Commands that the pages tell people to type: from shell blocks, and from code within sentences."""

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
    """One command as a shell would split it."""

    page: str
    words: tuple[str, ...]
    whole: bool
    """From a block, to be typed as it is. Otherwise from a sentence, which may name a part of it only."""


def commands(page: Path) -> Iterator[Command]:
    """Every command of a page's shell blocks, and those of ours in its sentences."""
    prose, blocks = parts(page)
    for block in blocks:
        if block.info.split(" ")[0] in SHELLS:
            for words in split(block.text):
                yield Command(name(page), words, whole=True)
    for code in _INLINE.findall("\n".join(prose)):
        if code.split(" ")[0] in _OURS or "$(physai" in code:
            for words in split(" ".join(code.split())):
                yield Command(name(page), words, whole=False)


def every_command() -> list[Command]:
    """All commands of all pages, each once a page."""
    return list(dict.fromkeys(command for page in pages() for command in commands(page)))


def split(text: str) -> Iterator[tuple[str, ...]]:
    """A shell text as simple commands, those in `$( )` as well; assignments before a command are left out.

    >>> list(split("A=1 make up  # now\\nx=$(physai env) && ls"))
    [('physai', 'env'), ('make', 'up'), ('ls',)]
    """
    whole = re.sub(r"\d?>&\d", "", text.replace("\\\n", " "))
    for inner in _INNER.findall(re.sub(r"(^|\s)#.*", "", whole)):
        yield from split(inner)
    for line in _lines(whole):
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
    """Lines, joined where a quotation goes over several."""
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
        raise ValueError(f"a quotation does not end: {kept}")


def _undirected(words: list[str]) -> list[str]:
    """Words without `> FILE` and the like."""
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
