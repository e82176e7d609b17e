"""The header of a script: its `#SBATCH` lines, as `sbatch` finds and splits them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from physical_ai.catalog import nearest
from physical_ai.osmo.sbatch.options import BY_NAME, BY_SHORT, Option
from physical_ai.osmo.sbatch.report import OPTION, SCRIPT, Report

_PREFIX = "#SBATCH"
_OTHERS = ("#PBS", "#BSUB", "#BB", "#DW")
_SHELLS = ("bash", "sh", "dash")
HET_JOB = ("hetjob", "packjob")


@dataclass(frozen=True)
class Directive:
    """One option of the header."""

    option: Option
    value: str
    line: int
    """From 1."""


@dataclass(frozen=True)
class Script:
    """A script: the options of its header, and its other lines with their numbers."""

    directives: tuple[Directive, ...]
    body: tuple[tuple[int, str], ...]


def read(text: str, report: Report) -> Script:
    """The parts of a script. `sbatch` reads options up to the first command; it ignores those that follow."""
    lines = text.split("\n")
    _check_shell(lines[0], report)
    directives: list[Directive] = []
    body: list[tuple[int, str]] = []
    in_header = True
    for number, line in enumerate(lines, 1):
        if line.startswith(_PREFIX) and in_header:
            directives += _directives(line.removeprefix(_PREFIX), number, report)
            continue
        if line.startswith(_PREFIX):
            report.warn(
                OPTION, number, "sbatch ignores options after the first command", "Move the line up, or delete it."
            )
            continue
        if in_header and line.startswith(_OTHERS):
            report.refuse(
                OPTION, number, f"'{line.split()[0]}' is another program's directive", "Write #SBATCH options."
            )
            continue
        in_header = in_header and (not line.strip() or line.lstrip().startswith("#"))
        if number > 1:
            body.append((number, line))
    return Script(tuple(directives), tuple(body))


def _check_shell(first: str, report: Report) -> None:
    if not first.startswith("#!"):
        report.refuse(
            SCRIPT, 1, "the first line names no shell, without which sbatch refuses the script", "#!/bin/bash"
        )
        return
    words = first.removeprefix("#!").split() or [""]
    names = [word.rpartition("/")[2] for word in words if not word.startswith("-")]
    program = names[1] if names[0] == "env" and len(names) > 1 else names[0]
    if program not in _SHELLS:
        fix = "Call the program from a bash script: #!/bin/bash, then the command."
        report.refuse(SCRIPT, 1, f"the script is run by '{program}', not by a shell", fix)


def _directives(text: str, line: int, report: Report) -> Iterator[Directive]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        report.refuse(OPTION, line, f"the line can't be split: {error}", "Close the quotes.")
        return
    if (cut := _cut_word(text, words)) is not None:
        report.refuse(OPTION, line, f"sbatch treats everything after '{cut}' as a comment", f"{cut}\\#…")
        return
    if words and words[0] in HET_JOB:
        report.refuse(
            OPTION,
            line,
            "a heterogeneous job has parts of different resources",
            "Convert each part alone, and write the parts as tasks of one group, each with its own resource.",
        )
        return
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        found = _split(word)
        if found is None:
            report.refuse(OPTION, line, *_unknown(word))
            return
        option, value = found
        if value is None and option.form == "value":
            if index == len(words):
                report.refuse(OPTION, line, f"--{option.name} has no value", f"--{option.name}=VALUE")
                return
            value = words[index]
            index += 1
        yield Directive(option, value or "", line)


def _cut_word(text: str, words: list[str]) -> str | None:
    """The word that a `#` without a space before it ends: `registry#name`."""
    try:
        complete = shlex.split(text)
    except ValueError:  # an apostrophe in the comment
        return None
    index = len(words) - 1
    return words[-1] if words and complete[index] != words[-1] else None


def _split(word: str) -> tuple[Option, str | None] | None:
    """The option of a word, and its value where the word has it; None for an unknown one."""
    if word.startswith("--"):
        name, equals, value = word.removeprefix("--").partition("=")
        option = BY_NAME.get(name)
        return (option, value if equals else None) if option else None
    option = BY_SHORT.get(word[1:2]) if word.startswith("-") else None
    return (option, word[2:] or None) if option else None


def _unknown(word: str) -> tuple[str, str]:
    if not word.startswith("-"):
        return f"'{word}' is not an option", "Write options only, with --NAME=VALUE, and values with spaces in quotes."
    name = word.lstrip("-").partition("=")[0]
    near = nearest(name, BY_NAME)
    return f"'{word}' is not an option that is known", f"Did you mean --{near}?" if near else "Delete it."
