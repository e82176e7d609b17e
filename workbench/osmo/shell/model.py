"""The parts of a shell script: commands, their words, and the expansions in a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal


class Unreadable(Exception):
    """Error if the text is not a complete script, or is nested too deeply."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem, self.offset = problem, offset


@dataclass(frozen=True)
class Expansion:
    """An expansion by the shell: `$NAME`, `${NAME:-x}`, `$(command)`, `$((1 + 2))` or `<(command)`."""

    kind: Literal["variable", "command", "arithmetic"]
    text: str
    """Name of a variable; for a command or an arithmetic expression, its source text."""
    operator: str = ""
    """Text after a variable's name in braces, such as `:-x`."""
    commands: tuple[Command, ...] = ()
    inner: tuple[Expansion, ...] = ()
    """Expansions within an operator, or within an arithmetic expression."""

    def every(self) -> Iterator[Expansion]:
        """This expansion, and all expansions within it and within its commands."""
        yield self
        for each in self.inner:
            yield from each.every()
        for command in self.commands:
            for each in command.expansions():
                yield from each.every()


@dataclass(frozen=True)
class Word:
    """One word of a script, with its literal parts and its expansions."""

    raw: str
    start: int
    """Offset in the script at which the word begins. It ends before the offset `end`."""
    end: int
    parts: tuple[str | Expansion, ...]

    @cached_property
    def value(self) -> str | None:
        """The word without quotes; None if it contains an expansion."""
        return None if self.expansions else "".join(part for part in self.parts if isinstance(part, str))

    @cached_property
    def prefix(self) -> str:
        """The literal text before the first expansion."""
        found: list[str] = []
        for part in self.parts:
            if not isinstance(part, str):
                break
            found.append(part)
        return "".join(found)

    @cached_property
    def shown(self) -> str:
        """The word's text with `_` for each expansion, so that a command in a quoted word can be recognized."""
        return "".join(part if isinstance(part, str) else "_" for part in self.parts)

    @property
    def begins_replaced(self) -> bool:
        """True if the word begins with an expansion."""
        return bool(self.expansions) and not self.prefix

    @property
    def second(self) -> str:
        """Literal text between the first and the second expansion; up to the word's end if there is no second
        expansion.
        """
        index = next((number for number, part in enumerate(self.parts) if not isinstance(part, str)), len(self.parts))
        return "".join(part for part in self.parts[index + 1 : index + 3] if isinstance(part, str))

    @cached_property
    def expansions(self) -> tuple[Expansion, ...]:
        return tuple(part for part in self.parts if isinstance(part, Expansion))


@dataclass(frozen=True)
class Assignment:
    """An assignment: `NAME=word`, `NAME+=word`, or `NAME=(words)`."""

    name: str
    words: tuple[Word, ...]
    is_list: bool
    start: int

    @property
    def expansions(self) -> tuple[Expansion, ...]:
        return tuple(each for word in self.words for each in word.expansions)


@dataclass(frozen=True)
class Redirection:
    """A redirection such as `> file`, or a here-document."""

    operator: str
    word: Word
    text: str | None = None
    """Text of a here-document as it is written; None for another redirection."""
    expansions: tuple[Expansion, ...] = ()
    """Expansions in the text of a here-document whose delimiter is not quoted. With a quoted delimiter, the shell
    expands nothing.
    """


@dataclass
class Command:
    """A simple command, or the head of a compound command."""

    kind: Literal["simple", "for", "case", "test", "arithmetic", "end"]
    start: int
    end: int = 0
    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    before: str = ""
    """Operator before the command on its line: `|`, `&&`, `&` …"""
    after: str = ""
    depth: int = 0
    """Number of compound commands around the command: loops, conditions, groups."""
    in_function: bool = False
    loose: tuple[Expansion, ...] = field(default=())
    """Expansions that are in no word, as in `((…))`."""

    @cached_property
    def name(self) -> str:
        """The file name of the command's program, without its folder; empty if it is not known, or there is none."""
        found = self.words[0].value if self.words else None
        return (found or "").rpartition("/")[2]

    def expansions(self) -> Iterator[Expansion]:
        """All expansions in the command that the script's own shell makes, without expansions nested in other
        expansions.
        """
        for word in self.words:
            yield from word.expansions
        for assignment in self.assignments:
            yield from assignment.expansions
        for redirection in self.redirections:
            yield from redirection.word.expansions
            yield from redirection.expansions
        yield from self.loose
