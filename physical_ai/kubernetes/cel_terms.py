"""Terms of Common Expression Language: functions of a scope for its operators, methods and macros.

Source: google/cel-spec doc/langdef.md.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.nested import is_mapping

Scope = Mapping[str, Any]
"""Values of the variables of an expression, by name."""
Term = Callable[[Scope], Any]
"""A part of an expression, as the function of its value in a scope."""
LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class EvaluationError(ValueError):
    """Raised where an expression has no value, for example because a key does not exist."""


@dataclass(frozen=True)
class _Optional:
    """Value of `a.?b`: present or absent."""

    value: Any = None
    is_there: bool = False


def constant(token: str) -> Term:
    """Term of a literal: a text in quotes, a number, or a word such as `true`."""
    value = LITERALS.get(token, int(token) if token.isdigit() else re.sub(r"\\(.)", r"\1", token[1:-1]))
    return lambda _: value


def applied(function: Callable[..., Any], *terms: Term) -> Term:
    """Term that applies a function to the values of other terms. An operand of a wrong type is an EvaluationError."""

    def call(scope: Scope) -> Any:
        try:
            return function(*(term(scope) for term in terms))
        except TypeError as problem:
            raise EvaluationError(f"no such overload: {problem}") from None

    return call


def lazy(left: Term, right: Term, *, decisive: bool) -> Term:
    """Function for `&&` (`decisive` is False) or `||` (`decisive` is True). The result is `decisive` if either side has
    this value, even if the other side is an error.
    """

    def call(scope: Scope) -> bool:
        try:
            if truth(left(scope)) is decisive:
                return decisive
        except EvaluationError:
            if truth(right(scope)) is decisive:
                return decisive
            raise
        return truth(right(scope))

    return call


def truth(value: Any) -> bool:
    """The value, if it is a boolean. Raises EvaluationError if it is none."""
    if not isinstance(value, bool):
        raise EvaluationError(f"{value!r} is neither true nor false")
    return value


def negated(value: Any) -> bool:
    """Value of `!value`."""
    return not truth(value)


def contains(item: Any, of: Any) -> bool:
    """Value of `item in of`."""
    return item in of


def indexed(of: Any, key: Any) -> Any:
    """Value of `of[key]`. Raises EvaluationError where there is none."""
    try:
        return of[key]
    except (KeyError, IndexError, TypeError):
        raise EvaluationError(f"no such key: {key}") from None


def selected(of: Term, name: str, is_optional: bool) -> Term:
    """Term of `of.name`, or of `of.?name` where it is optional."""

    def call(scope: Scope) -> Any:
        value = of(scope)
        if not is_optional and not isinstance(value, _Optional):
            return indexed(value, name)
        held = as_optional(value)
        inner: Any = held.value
        return _Optional(inner[name], True) if is_mapping(inner) and name in inner else _Optional()

    return call


def as_optional(value: Any) -> _Optional:
    """The value as an optional one; every value but that of `a.?b` is present."""
    return value if isinstance(value, _Optional) else _Optional(value, True)


def _has(of: Term) -> Term:
    def call(scope: Scope) -> bool:
        try:
            return as_optional(of(scope)).is_there
        except EvaluationError:
            return False

    return call


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _starts_with(part: Any, of: Any) -> bool:
    if not isinstance(of, str):
        raise EvaluationError(f"{of!r} is not a text")
    return of.startswith(part)


def _join(sign: Any, of: Any) -> Any:
    return sign.join(of)


def _matches(pattern: Any, of: Any) -> bool:
    if not isinstance(of, str):
        raise EvaluationError(f"{of!r} is not a text")
    return re.search(pattern, of) is not None


METHODS: Mapping[str, Callable[[Any, Any], Any]] = {
    "contains": contains,
    "startsWith": _starts_with,
    "matches": _matches,
    "join": _join,
}
"""Methods of CEL that have one argument."""
MACROS: Mapping[str, Callable[[Iterable[tuple[Any, Any]]], Any]] = {
    "exists": lambda found: any(truth(value) for _, value in found),
    "all": lambda found: all(truth(value) for _, value in found),
    "filter": lambda found: [item for item, value in found if truth(value)],
    "map": lambda found: [value for _, value in found],
}
"""Function for the result of each CEL macro. Its argument is a pair for each item of the list: the item, and the value
of the macro's inner expression for the item.
"""
FUNCTIONS: Mapping[str, Callable[[Term], Term]] = {
    "has": _has,
    "dyn": lambda term: term,
    "string": lambda term: applied(_text, term),
}
