"""How `exec` starts a command: a Python script through our runner, everything else as it is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_INTERPRETERS = ("python", "python3", "python.sh")
"""Names of Python commands beside python3.N. python.sh is Isaac Sim's, which passes its arguments on."""
_WITH_VALUE = "WX"
_SCRIPTLESS = "hVi?"
"""Options with which Python runs no script, or does not exit after it."""
RUNNER = Path(__file__).resolve().parent / "bootstrap.py"


@dataclass(frozen=True)
class Launch:
    """A command line, and whether its process reports the end of the script."""

    command: tuple[str, ...]
    reports: bool


def plan(command: Sequence[str], interpreter: str = sys.executable) -> Launch:
    """What to run for a command.

    The bare names `python` and `python3` mean the interpreter that runs `exec`: in Isaac's containers the PATH may
    have another one, or none.
    """
    program, *arguments = command
    if not is_python(program):
        return Launch(tuple(command), reports=False)
    if program in ("python", "python3") and interpreter:
        program = interpreter
    found = _script(arguments)
    if found is None:
        return Launch((program, *arguments), reports=False)
    options, kind, target, rest = found
    return Launch((program, *options, str(RUNNER), kind, target, *rest), reports=True)


def is_python(program: str) -> bool:
    """Whether a command is a Python interpreter, by its name."""
    name = program.rpartition("/")[2]
    version = name.removeprefix("python3.")
    return name in _INTERPRETERS or (version != name and version.isdigit())


def _script(arguments: list[str]) -> tuple[list[str], str, str, list[str]] | None:
    """Options, kind (script, module, code), what to run and its arguments, as Python's own command line has them."""
    options: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--check-hash-based-pycs" and rest:
            options += [word, rest.pop(0)]
        elif word == "--" and rest:
            return options, "script", rest[0], rest[1:]
        elif word == "-" or word.startswith("--"):
            return None
        elif not word.startswith("-"):
            return options, "script", word, rest
        else:
            found = _flags(word, options, rest)
            if found == "none":
                return None
            if found:
                return (options, found, rest[0], rest[1:]) if rest else None
    return None


def _flags(word: str, options: list[str], rest: list[str]) -> str:
    """Reads one cluster such as -uBm; what kind of script it names, `none` for none ever, or empty for not yet."""
    for position, letter in enumerate(word[1:], 1):
        value = word[position + 1 :]
        if letter in "mc":
            if position > 1:
                options.append(word[:position])
            if value:
                rest.insert(0, value)
            return "module" if letter == "m" else "code"
        if letter in _SCRIPTLESS:
            return "none"
        if letter in _WITH_VALUE:
            options.append(word)
            if not value and rest:
                options.append(rest.pop(0))
            return ""
    options.append(word)
    return ""
