"""Reader of a script's header: the `#SBATCH` lines, which are found and split as `sbatch` does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from physical_ai.catalog import nearest
from workbench.osmo.sbatch.options import BY_NAME, BY_SHORT, Option, option_of
from workbench.osmo.sbatch.report import OPTION, SCRIPT, Report, quoted
from workbench.osmo.sbatch.splitting import Unclosed, split

_PREFIX = "#SBATCH"
_OTHERS = ("#PBS", "#BSUB", "#BB", "#DW")
_SHELLS = ("bash", "sh", "dash")
HET_JOB = ("hetjob", "packjob")
LONGEST_NAME = 40


@dataclass(frozen=True)
class Directive:
    """One `sbatch` option in the header."""

    option: Option
    value: str
    line: int
    """Number of the option's line in the script, counted from 1."""


@dataclass(frozen=True)
class Script:
    """A script: the options of its header, and its other lines with their line numbers."""

    directives: tuple[Directive, ...]
    body: tuple[tuple[int, str], ...]
    shell_options: tuple[str, ...] = ()
    """Options that the script's first line gives to the shell, such as `-e`."""


def read(text: str, report: Report) -> Script:
    """The header and the other lines of a script. `sbatch` reads options up to the first command, and ignores options
    after it.
    """
    lines = text.split("\n")
    shell_options = _shell_options(lines[0], report)
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
        if in_header and line.startswith(_OTHERS):
            report.refuse(
                OPTION, number, f"'{line.split()[0]}' is another program's directive", "Write #SBATCH options."
            )
            continue
        in_header = in_header and (not line.strip() or line.lstrip().startswith("#"))
        if number > 1:
            body.append((number, line))
    return Script(tuple(directives), tuple(body), shell_options)


def _shell_options(first: str, report: Report) -> tuple[str, ...]:
    """Options that the script's first line gives to the shell. Reports a first line that is no `#!` line, or that names
    a program which is no shell.
    """
    if not first.startswith("#!"):
        report.refuse(
            SCRIPT, 1, "the first line names no shell, without which sbatch refuses the script", "#!/bin/bash"
        )
        return ()
    words = first.removeprefix("#!").split() or [""]
    names = [word.rpartition("/")[2] for word in words if not word.startswith("-")] or [""]
    program = names[1] if names[0] == "env" and len(names) > 1 else names[0]
    if program not in _SHELLS:
        fix = "Call the program from a bash script: #!/bin/bash, then the command."
        report.refuse(SCRIPT, 1, f"the script is run by '{quoted(program)}', not by a shell", fix)
    return tuple(word for word in words[1:] if word.startswith("-") and word not in ("-S", "-"))


def _directives(text: str, line: int, report: Report) -> Iterator[Directive]:
    try:
        found = split(text)
    except Unclosed as error:
        report.refuse(OPTION, line, f"the line can't be split: a {error} is not closed", "Close the quotes.")
        return
    words = found.words
    if found.cut is not None:
        report.refuse(
            OPTION,
            line,
            f"sbatch treats everything after '{quoted(found.cut)}' as a comment",
            f"{quoted(found.cut)}\\#…",
        )
        return
    if words and words[0].lower() in HET_JOB:
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
        known = _split(word)
        if known is None:
            report.refuse(OPTION, line, *_unknown(word, report))
            return
        option, value = known
        if value is None and option.form == "value":
            if index == len(words):
                report.refuse(OPTION, line, f"--{option.name} has no value", f"--{option.name}=VALUE")
                return
            value = words[index]
            index += 1
        yield Directive(option, value or "", line)


def _split(word: str) -> tuple[Option, str | None] | None:
    """The option in a word, and its value if the word includes it; None for an unknown option."""
    if word.startswith("--"):
        name, equals, value = word.removeprefix("--").partition("=")
        option = option_of(name)
        return (option, value if equals else None) if option else None
    option = BY_SHORT.get(word[1:2]) if word.startswith("-") else None
    return (option, word[2:] or None) if option else None


def _unknown(word: str, report: Report) -> tuple[str, str]:
    if not word.startswith("-"):
        return (
            f"'{quoted(word)}' is not an option",
            "Write options only, with --NAME=VALUE, and values with spaces in quotes.",
        )
    name = word.lstrip("-").partition("=")[0]
    near = nearest(name[:LONGEST_NAME], BY_NAME, cutoff=0.75) if not report.is_full else None
    return f"'{quoted(word)}' is not an option that is known", f"Did you mean --{near}?" if near else "Delete it."
