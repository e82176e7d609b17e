"""Errors with which OSMO refuses a workflow: errors that OSMO raises on purpose, and crashes."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

CRASH = "crash"
"""Kind of a refusal for input on which OSMO crashes. The user sees an internal server error."""

UNEXPECTED_SHAPE = (TypeError, AttributeError, KeyError, ValueError, IndexError)
"""Exceptions that Python raises when code reads data of an unexpected shape. OSMO crashes with the same exceptions."""


@dataclass(frozen=True)
class Problem:
    """A value that a Pydantic model refuses."""

    path: str
    """Path with dots, such as `workflow.tasks.0.image`."""
    kind: str
    """Pydantic's name for the error."""
    message: str

    @property
    def steps(self) -> tuple[str | int, ...]:
        return tuple(int(step) if step.isdigit() else step for step in self.path.split("."))


class Refusal(Exception):
    """Error if OSMO refuses the input.

    `kind` is the class of the error that OSMO 6.3.1 ends with, or CRASH. `line` and `column` are positions in a
    template, from 1.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        line: int | None = None,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.column: int | None = None
        self.problems = problems
        self.undefined: dict[str, int] = {}
        """Undefined names that a template reads, each with the number of the first line that reads it."""


def crash(why: object) -> Refusal:
    """A refusal for input that makes OSMO crash."""
    return Refusal(CRASH, f"OSMO would crash here: {why}")


_MESSAGES = {
    "string": "write text",
    "int": "write a whole number",
    "float": "write a number",
    "bool": "write true or false",
    "list": "write a list",
    "dict": "write a map",
    "model": "write a map",
    "missing": "this key is missing",
    "extra": "this key does not exist",
}
"""Message that tells the user what to write, or what is wrong with a key, by the first word of Pydantic's error
type.
"""


def _message(kind: str, message: str) -> str:
    """Text in plain words for an error of Pydantic, made from the error's type `kind` and Pydantic's message."""
    if kind in ("string_pattern_mismatch", "string_too_short", "string_too_long"):
        return message
    message = message.removeprefix("Value error, ")
    return _MESSAGES.get(kind.partition("_")[0], message.replace("Input should be", "the value has to be"))


def as_refusal(error: ValidationError, kind: str = "ValidationError") -> Refusal:
    """Refusal made from Pydantic's validation error. The refusal lists every wrong value."""
    problems = tuple(
        Problem(".".join(str(step) for step in item["loc"]), item["type"], _message(item["type"], item["msg"]))
        for item in error.errors(include_url=False, include_input=False)
    )
    message = "; ".join(f"{problem.path or '(all)'}: {problem.message}" for problem in problems)
    return Refusal(kind, message, problems=problems)
