"""Inputs that a script's file does not show: variables of the caller's shell, arguments, and commands in variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.osmo.sbatch.programs import LOOKING, SAYING
from workbench.osmo.sbatch.reading import Code
from workbench.osmo.sbatch.report import SCRIPT, Report, quoted
from workbench.osmo.sbatch.variables import MASTER, VARIABLE
from workbench.osmo.shell import Command, Expansion

_SHELLS = frozenset(
    {
        *("BASH", "BASHOPTS", "BASHPID", "BASH_ENV", "BASH_LINENO", "BASH_SOURCE", "BASH_VERSION", "BASH_VERSINFO"),
        *("COLUMNS", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HOME", "HOSTNAME"),
        *("HOSTTYPE", "IFS", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LIBRARY_PATH", "LINENO", "LINES", "LOGNAME"),
        *("MACHTYPE", "OLDPWD", "OPTARG", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "PPID", "PS4", "PWD", "PYTHONPATH"),
        *("RANDOM", "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM", "TERM", "TMPDIR", "TZ", "UID"),
        *("USER", "_"),
    }
)
"""Variables that a shell sets itself, and variables that a container may leave empty without harm."""
_OTHERWISE = (":-", "-", ":=", "=", ":+", "+", ":?", "?")
_POSITION = re.compile(r"[1-9][0-9]*")
_ALL = ("@", "*")
_BEFORE = ("builtin", "command", "exec", "nohup", "setsid")
"""Commands that run the command in the words after them."""
MOST_NAMED = 10
_WRITE = "Write the commands themselves: a converter can't know what is run."


def check(code: Code, given: Iterable[str], report: Report) -> None:
    """Reports inputs that the script's file does not show.

    Args:
        given: Variables that the task has in its environment.
    """
    _hidden_commands(code, report)
    _arguments(code, report)
    _foreign(code, frozenset({MASTER, *given}), report)


def _hidden_commands(code: Code, report: Report) -> None:
    for found in code.every:
        command, line = found.command, found.line
        if command.kind != "simple" or not command.words:
            continue
        if command.name in ("eval", "alias"):
            report.refuse(SCRIPT, line, f"{command.name} makes commands out of text", _WRITE)
            continue
        first = command.words[1 if command.name in _BEFORE and len(command.words) > 1 else 0]
        # The name of a program is known also where a variable names its folder.
        if first.value is not None or first.raw.rpartition("/")[2].isalnum() or not found.is_top:
            continue
        if not first.prefix and (texts := code.first_words(first)) is not None and all(texts):
            continue
        if "/" in "".join(part for part in first.parts if isinstance(part, str)):
            continue
        report.refuse(SCRIPT, line, f"what {quoted(first.raw)} runs is not known before the script runs", _WRITE)


def _top_expansions(command: Command) -> Iterator[Expansion]:
    for expansion in command.expansions():
        yield from expansion.every()


def _arguments(code: Code, report: Report) -> None:
    for command in code.commands:
        if command.in_function:
            continue
        line = code.line(command.start)
        for each in _top_expansions(command):
            if each.kind != "variable":
                continue
            if _POSITION.fullmatch(each.text) and not each.operator.startswith(_OTHERWISE):
                problem = f"${each.text} is an argument of sbatch's command line, which the file does not have"
                report.refuse(SCRIPT, line, problem, "Write its value into the script.")
            elif each.text in _ALL and not each.operator:
                report.note(line, f"${each.text}: arguments of sbatch's command line are not converted")


def _foreign(code: Code, given: frozenset[str], report: Report) -> None:
    known = _SHELLS | given | code.assigned.keys() | code.read | code.defaults
    known |= {a.name for command in code.commands for a in command.assignments}
    # `export NAME` of a variable that only the caller can have set is a use of it, too.
    first: dict[str, int] = {}
    for command in code.commands:
        names = [each.text for each in _top_expansions(command) if each.kind == "variable" and not _has_default(each)]
        if command.name == "export" and not any(word.raw in ("-f", "-n") for word in command.words):
            names += [word.raw for word in command.words[1:] if word.raw.isidentifier()]
        for name in names:
            if name.isidentifier() and name not in known and not VARIABLE.fullmatch(name):
                first.setdefault(name, code.line(command.start))
    if not first:
        return
    named = ", ".join(f"${name}" for name in list(first)[:MOST_NAMED])
    more = f" and {len(first) - MOST_NAMED} more" if len(first) > MOST_NAMED else ""
    report.warn(
        SCRIPT,
        min(first.values()),
        f"the script does not set {named}{more}: sbatch passes on what the caller's shell has, a task has nothing",
        "Write --export=NAME=VALUE, or the assignment; a secret belongs to credentials of the task.",
    )


def _has_default(expansion: Expansion) -> bool:
    return expansion.operator.lstrip("[@*]").startswith(_OTHERWISE)


def is_saying(command: Command) -> bool:
    """True for a command that prints its words or looks for them, and does not run them."""
    return command.name in SAYING or command.name in LOOKING
