"""Commands and assignments of a script, with their lines. Commands in substitutions, and in texts that are run as code,
are included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.osmo import shell
from workbench.osmo.sbatch.programs import CODE, LOOKING, SAYING, WRAPPERS
from workbench.osmo.shell import Assignment, Command, Unreadable, Word

LONGEST_CODE = 100_000
"""Largest number of characters of a text that is also read as commands. No command that people write is longer."""
_READS = ("read", "mapfile", "readarray", "getopts", "unset", "printf")


@dataclass(frozen=True)
class Found:
    """A command of a script, with the number of its line."""

    command: Command
    line: int
    is_top: bool
    """True for a command that the script itself runs; False for a command within a substitution or a quoted text."""


@dataclass(frozen=True)
class Code:
    """A script's commands, and its text without the header."""

    text: str
    numbers: Sequence[int]
    """Line number in the file of each line of `text`."""
    commands: Sequence[Command]
    _starts: list[int] = field(default_factory=list[int])

    def line(self, offset: int) -> int:
        """Line number in the file of a character of `text`."""
        if not self._starts:
            at = 0
            for line in self.text.split("\n"):
                self._starts.append(at)
                at += len(line) + 1
        index = min(bisect_right(self._starts, offset) - 1, len(self.numbers) - 1)
        return self.numbers[index] if self.numbers else 1

    @cached_property
    def every(self) -> list[Found]:
        """All commands in the order of the script, including commands in substitutions and in texts."""
        return [found for command in self.commands for found in self._within(command, self.line(command.start), True)]

    def _within(self, command: Command, line: int, is_top: bool) -> Iterator[Found]:
        yield Found(command, line, is_top)
        for expansion in command.expansions():
            for each in expansion.every():
                for inner in each.commands:
                    yield Found(inner, line, False)
                    yield from self._texts(inner, line)
        yield from self._texts(command, line)

    def _texts(self, command: Command, line: int) -> Iterator[Found]:
        """Commands in texts that a command may run as code, such as arguments of `bash -c` and values of variables."""
        for text in _texts_of(command):
            if not text.strip() or len(text) > LONGEST_CODE:
                continue
            try:
                inner = shell.commands(text)
            except Unreadable:
                continue
            for each in inner:
                yield Found(each, line, False)

    @cached_property
    def assigned(self) -> Mapping[str, Sequence[Assignment]]:
        """Assignments to each variable of the script's own shell, by name."""
        found: dict[str, list[Assignment]] = {}
        for command in self.commands:
            # `A=1 program` is the program's variable, not the shell's.
            if command.words and command.name not in ("export", "declare", "local", "readonly", "typeset"):
                continue
            for assignment in command.assignments:
                found.setdefault(assignment.name, []).append(assignment)
        return found

    @cached_property
    def read(self) -> frozenset[str]:
        """Variables that `read`, `for` and similar commands set."""
        found: set[str] = set()
        for command in self.commands:
            if command.kind == "for" and command.words:
                found.add(command.words[0].raw)
            elif command.name in _READS:
                found.update(word.raw for word in command.words[1:])
        return frozenset(found)

    @cached_property
    def defaults(self) -> frozenset[str]:
        """Variables to which `${NAME:=value}` assigns a value if they are empty or not set."""
        return frozenset(
            each.text
            for command in self.commands
            for expansion in command.expansions()
            for each in expansion.every()
            if each.kind == "variable" and each.operator.startswith((":=", "="))
        )

    def first_words(self, word: Word) -> list[str] | None:
        """Texts with which the value of the variable in `word` can begin, according to the script's assignments; None
        if a value is not known.
        """
        expansion = word.expansions[0]
        if expansion.kind != "variable" or expansion.text in self.read or word.prefix or word.second.strip():
            return None
        found = [_beginning(each) for each in self.assigned.get(expansion.text, ())]
        if expansion.text in self.defaults:
            return None
        if expansion.operator.startswith((":-", "-")):
            found.append(expansion.operator.lstrip(":-").strip("'\""))
        elif expansion.operator not in ("", "[@]", "[*]"):
            return None
        if not found or any(each is None or each.startswith("$") for each in found):
            return None
        return [each for each in found if each is not None]


def _beginning(assignment: Assignment) -> str | None:
    """The text with which an assigned value begins; None if it begins with an expansion."""
    if not assignment.words:
        return ""
    first = assignment.words[0]
    if first.begins_replaced:
        return None
    return first.prefix.strip()


def _texts_of(command: Command) -> Iterator[str]:
    for assignment in command.assignments:
        yield " ".join(word.shown for word in assignment.words)
    name = command.name
    if name in SAYING or name in LOOKING:
        return
    runs = name in CODE or name in WRAPPERS or name in ("srun", "eval")
    for word in command.words[1:] if runs else ():
        if any(sign in word.shown for sign in " \t\n;"):
            yield word.shown
    for redirection in command.redirections:
        # A script that is written, or given to a shell.
        if redirection.text is not None and (runs or redirection.text.startswith("#!")):
            yield redirection.text


def code_of(body: Sequence[tuple[int, str]]) -> Code:
    """The commands of a script's lines. Raises `Unreadable` if the script is not complete."""
    text = "\n".join(line for _, line in body)
    return Code(text, [number for number, _ in body], shell.commands(text))
