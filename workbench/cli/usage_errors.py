"""Messages about a wrong command line: the problem, the option or argument, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from physical_ai.catalog import nearest, regions
from workbench.cli.groups import UnknownCommand, value_name

DATE = "2026-07-31"
"""Date that messages show as an example."""
_NOT_A = {"float_parsing": "a number", "int_parsing": "a whole number", "datetime_from_date_parsing": "a date"}
"""Description of the value that is expected, by Pydantic's name for the error."""
_TOO = {"greater_than_equal": ("small", "At least", "ge"), "less_than_equal": ("large", "At most", "le")}


def called(root: Any, arguments: Sequence[str]) -> tuple[str, Any]:
    """The words of the command that the arguments call, such as `physai osmo values`, and Typer's object for it."""
    words, command = ["physai"], root
    for word in arguments:
        below = getattr(command, "commands", {}).get(word)
        if below is None:
            break
        words.append(word)
        command = below
    return " ".join(words), command


def usage_text(problem: typer.TyperException | UnknownCommand, path: str, command: Any) -> str:
    """Message about an error on the command line.

    Args:
        path: The command's words, as `called` returns them.
        command: Typer's object for the command.
    """
    if isinstance(problem, UnknownCommand):
        near = nearest(problem.name, problem.known)
        return _lines(f"{path}: there is no command '{problem.name}'", _meant(near), f"All commands: {path} --help")
    text, advice = _told(problem, path, command)
    return _lines(f"{path}: {text}", advice, f"All options: {path} --help")


def _told(problem: typer.TyperException, path: str, command: Any) -> tuple[str, str]:
    """Two texts about a wrong command line: the problem, and what to write instead.

    Typer exports no classes for its errors, so the kind of an error is recognised by its attributes.
    """
    name = getattr(problem, "option_name", None)
    if name is not None and hasattr(problem, "possibilities"):
        return _no_option(name, command)
    if name is not None:
        return _wrong_use(name, problem.message, path, command)
    if hasattr(problem, "param_type"):
        parameter = getattr(problem, "param", None)
        return f"{_place(problem)} is missing", f"Write: {path} {value_name(parameter)}" if parameter else ""
    if extra := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", problem.message, re.DOTALL):
        return _extra(extra[1], path, command)
    return _wrong_value(problem)


def _no_option(name: str, command: Any) -> tuple[str, str]:
    bare = {each.lstrip("-"): each for each in _options(command)}
    near = nearest(name.lstrip("-"), bare)  # dashes would make all short names similar
    return f"there is no option {name}", _meant(bare[near]) if near else ""


def _wrong_use(name: str, message: str, path: str, command: Any) -> tuple[str, str]:
    """Texts about an option without its value, or a flag with a value, and about what to write instead."""
    option = _options(command).get(name)
    if option is None or "does not take" in message:
        return f"{name} takes no value", f"Write: {path} {name}"
    value = value_name(option)
    needs = "needs a value" if option.nargs == 1 else f"needs {option.nargs} values"
    return f"{name} {needs}: {value}", f"Write: {path} {name} {_example(option) or value}"


def _extra(given: str, path: str, command: Any) -> tuple[str, str]:
    """Texts about arguments that the command does not take, and about what to write instead. `given` has the extra
    arguments, separated by spaces.
    """
    arguments = [value_name(each) for each in command.params if each.param_type_name == "argument"]
    takes = " and ".join(arguments) or "no arguments"
    return f"'{given}' is too much: the command takes {takes}", _instead(given, path, command)


def _instead(given: str, path: str, command: Any) -> str:
    """Advice about an unexpected argument: the option or command to use if the argument is the name of a stack or
    region, else to remove the argument.
    """
    from physical_ai.settings import existing

    options = _options(command)
    kind = "stack" if given in existing() else "region" if given in regions() else None
    if kind is not None and f"--{kind}" in options:
        return f"Write: {path} --{kind} {given}"
    if kind == "stack":
        return f"Its settings: physai explain {given}"
    if kind == "region":
        return f"Its sizes: physai sizes --region {given}"
    return "Remove it."


def _wrong_value(problem: typer.TyperException) -> tuple[str, str]:
    parameter, place = getattr(problem, "param", None), _place(problem)
    before = f"{place}: " if place else ""
    found = _pydantic(problem.__cause__)
    if found is not None:
        value, kind = found["input"], found["type"]
        context: Mapping[str, Any] = found.get("ctx") or {}
        if kind in _TOO:
            size, bound, key = _TOO[kind]
            return f"{before}{value} is too {size}", f"{bound} {context[key]}."
        if kind in _NOT_A:
            example = _example(parameter)
            return f"{before}'{value}' is not {_NOT_A[kind]}", f"Write for example {place} {example}" if example else ""
    message = problem.message.removeprefix("Value error, ").rstrip(".")
    if "does not match the format" in message:
        value = message.split("'")[1]
        return f"{before}'{value}' is not a date", f"Write it as year, month and day: {place} {DATE}"
    if choice := re.fullmatch(r"'(.*)' is not one of (.*)", message, re.DOTALL):
        known = re.findall(r"'([^']*)'", choice[2])
        advice = f"{_meant(nearest(choice[1], known))}  One of: {', '.join(known)}."
        return f"{before}'{choice[1]}' is not possible here", advice.strip()
    return f"{before}{message}", ""


def _example(option: Any) -> str | None:
    """An example of an option's value: the last of its choices, or an example from its help; None if there is none."""
    if option is None:
        return None
    choices = getattr(getattr(option, "type_descriptor", None), "choices", None)
    if choices:
        return str(getattr(choices[-1], "value", choices[-1]))
    words = r"(?:\S+ )" * (option.nargs - 1)
    given = re.search(rf", such as ({words}\S+?)(?=[;:]|\.(?:\s|$)|$)", option.help or "")
    if given:
        return given[1]
    return "3" if re.search(r"\bint\b", str(getattr(option.type_descriptor, "annotation", ""))) else None


def _pydantic(cause: BaseException | None) -> Mapping[str, Any] | None:
    """Pydantic's first error about the value; None if the error `cause` is not from Pydantic."""
    from pydantic import ValidationError

    return dict(cause.errors()[0]) if isinstance(cause, ValidationError) else None


def _place(problem: typer.TyperException) -> str | None:
    """Name of the option or argument that the error is about; None if it is not known."""
    hint, parameter = getattr(problem, "param_hint", None), getattr(problem, "param", None)
    if hint is not None or parameter is None:
        return hint
    return " / ".join(parameter.opts) if parameter.param_type_name == "option" else value_name(parameter)


def _options(command: Any) -> dict[str, Any]:
    """All options of a command, under each of their names."""
    options = [each for each in command.params if each.param_type_name == "option"]
    return {name: each for each in options for name in (*each.opts, *each.secondary_opts)} | {"--help": None}


def _meant(near: str | None) -> str:
    return f"Did you mean '{near}'?" if near else ""


def _lines(problem: str, advice: str, where: str) -> str:
    return f"{problem}\n  {advice}{'  ' if advice else ''}{where}"
