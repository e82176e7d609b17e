"""Evaluation of Common Expression Language, limited to the features that this project's rules use.

>>> evaluate('event.codes.exists(code, code in ["48"])', {"event": {"codes": ["48"]}})
True

Supported: literals, lists, maps, selection with and without `?`, index, `in`, comparison, `+`, `!`, `&&`, `||`, `? :`,
the macros `has`, `exists`, `all`, `filter` and `map`, `orValue`, `size`, `dyn`, `string`, `join`, and the text methods
`contains`, `startsWith` and `matches`. Everything else raises Unsupported. As in CEL, a missing key is an error, and
`false && error` is false.

Source: google/cel-spec doc/langdef.md, Kubernetes docs, reference/using-api/cel.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from physical_ai.nested import is_mapping

Scope = Mapping[str, Any]
Term = Callable[[Scope], Any]
_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|\.\?|[()\[\]{}.,!+<>?:]))"
)
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Unsupported(ValueError):
    """Raised where an expression uses something that this module does not implement."""


class EvaluationError(ValueError):
    """Raised where an expression has no value, for example because a key does not exist."""


@dataclass(frozen=True)
class _Optional:
    """Value of `a.?b`: present or absent."""

    value: Any = None
    is_there: bool = False


def evaluate(expression: str, scope: Scope) -> Any:
    """Value of an expression in a scope.

    Raises:
        Unsupported: the expression uses something that is not implemented.
        EvaluationError: the expression has no value in this scope.
    """
    return parse(expression)(scope)


@lru_cache(maxsize=512)
def parse(expression: str) -> Term:
    """The expression as a function of a scope. Raises Unsupported."""
    parser = _Parser(_tokens(expression))
    found = parser.expression()
    if parser.rest:
        raise Unsupported(f"{parser.rest[0]!r} is not expected in: {expression}")
    return found


def _tokens(expression: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        if match is None:
            raise Unsupported(f"{expression[at:].strip()[:20]!r} is not known in: {expression}")
        found.append(match.group().strip())
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: Sequence[str]) -> None:
        self.rest = list(tokens)

    def _next_is(self, *signs: str) -> str:
        """Consumes the next token if it is one of `signs`, and returns the token; otherwise returns an empty text."""
        return self.rest.pop(0) if self.rest and self.rest[0] in signs else ""

    def _expect(self, sign: str) -> None:
        if not self._next_is(sign):
            raise Unsupported(f"{sign!r} is missing before {' '.join(self.rest[:3])!r}")

    def expression(self) -> Term:
        condition = self.either()
        if not self._next_is("?"):
            return condition
        yes = self.expression()
        self._expect(":")
        no = self.expression()
        return lambda scope: yes(scope) if _truth(condition(scope)) else no(scope)

    def either(self) -> Term:
        found = self.both()
        while self._next_is("||"):
            found = _lazy(found, self.both(), decisive=True)
        return found

    def both(self) -> Term:
        found = self.relation()
        while self._next_is("&&"):
            found = _lazy(found, self.relation(), decisive=False)
        return found

    def relation(self) -> Term:
        left = self.sum()
        if self._next_is("in"):
            return _applied(_contains, left, self.sum())
        if sign := self._next_is(*_COMPARE):
            return _applied(_COMPARE[sign], left, self.sum())
        return left

    def sum(self) -> Term:
        found = self.unary()
        while self._next_is("+"):
            found = _applied(operator.add, found, self.unary())
        return found

    def unary(self) -> Term:
        if self._next_is("!"):
            return _applied(_negated, self.unary())
        return self.postfix()

    def postfix(self) -> Term:
        found = self.primary()
        while sign := self._next_is(".", ".?", "["):
            if sign == "[":
                found = _applied(_indexed, found, self.expression())
                self._expect("]")
                continue
            name = self.rest.pop(0)
            found = self._call(found, name) if self._next_is("(") else _selected(found, name, sign == ".?")
        return found

    def primary(self) -> Term:
        if not self.rest:
            raise Unsupported("the expression ends too early")
        word = self.rest.pop(0)
        if word == "(":
            found = self.expression()
            self._expect(")")
            return found
        if word == "[":
            return self._list()
        if word == "{":
            return self._map()
        if word in _FUNCTIONS and self._next_is("("):
            found = self.expression()
            self._expect(")")
            return _FUNCTIONS[word](found)
        if word in _LITERALS or word[0] in "\"'" or word.isdigit():
            return _constant(word)
        if not re.fullmatch(r"[A-Za-z_]\w*", word) or (self.rest and self.rest[0] == "("):
            raise Unsupported(f"{word!r} is not known")
        return lambda scope: _indexed(scope, word)

    def _list(self) -> Term:
        items: list[Term] = []
        while not self._next_is("]"):
            items.append(self.expression())
            self._next_is(",")
        return lambda scope: [item(scope) for item in items]

    def _map(self) -> Term:
        items: list[tuple[Term, Term]] = []
        while not self._next_is("}"):
            key = self.expression()
            self._expect(":")
            items.append((key, self.expression()))
            self._next_is(",")
        return lambda scope: {key(scope): value(scope) for key, value in items}

    def _call(self, of: Term, name: str) -> Term:
        if name == "orValue":
            other = self.expression()
            self._expect(")")
            return lambda scope: found.value if (found := _as_optional(of(scope))).is_there else other(scope)
        if name == "size":
            self._expect(")")
            return _applied(len, of)
        if name in _OF_ONE:
            part = self.expression()
            self._expect(")")
            return _applied(_OF_ONE[name], part, of)
        if name not in _MACROS:
            raise Unsupported(f"the function {name!r} is not known")
        variable = self.rest.pop(0)
        self._expect(",")
        inner = self.expression()
        self._expect(")")
        macro = _MACROS[name]
        return lambda scope: macro((item, inner({**scope, variable: item})) for item in of(scope))


def _constant(token: str) -> Term:
    value = _LITERALS.get(token, int(token) if token.isdigit() else re.sub(r"\\(.)", r"\1", token[1:-1]))
    return lambda _: value


def _applied(function: Callable[..., Any], *terms: Term) -> Term:
    def call(scope: Scope) -> Any:
        try:
            return function(*(term(scope) for term in terms))
        except TypeError as problem:
            raise EvaluationError(f"no such overload: {problem}") from None

    return call


def _lazy(left: Term, right: Term, *, decisive: bool) -> Term:
    """Function for `&&` (`decisive` is False) or `||` (`decisive` is True). The result is `decisive` if either side has
    this value, even if the other side is an error.
    """

    def call(scope: Scope) -> bool:
        try:
            if _truth(left(scope)) is decisive:
                return decisive
        except EvaluationError:
            if _truth(right(scope)) is decisive:
                return decisive
            raise
        return _truth(right(scope))

    return call


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(f"{value!r} is neither true nor false")
    return value


def _negated(value: Any) -> bool:
    return not _truth(value)


def _contains(item: Any, of: Any) -> bool:
    return item in of


def _indexed(of: Any, key: Any) -> Any:
    try:
        return of[key]
    except (KeyError, IndexError, TypeError):
        raise EvaluationError(f"no such key: {key}") from None


def _selected(of: Term, name: str, is_optional: bool) -> Term:
    def call(scope: Scope) -> Any:
        value = of(scope)
        if not is_optional and not isinstance(value, _Optional):
            return _indexed(value, name)
        held = _as_optional(value)
        inner: Any = held.value
        return _Optional(inner[name], True) if is_mapping(inner) and name in inner else _Optional()

    return call


def _as_optional(value: Any) -> _Optional:
    return value if isinstance(value, _Optional) else _Optional(value, True)


def _has(of: Term) -> Term:
    def call(scope: Scope) -> bool:
        try:
            return _as_optional(of(scope)).is_there
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


_OF_ONE: Mapping[str, Callable[[Any, Any], Any]] = {
    "contains": _contains,
    "startsWith": _starts_with,
    "matches": _matches,
    "join": _join,
}
"""Methods of CEL that have one argument."""
_MACROS: Mapping[str, Callable[[Iterable[tuple[Any, Any]]], Any]] = {
    "exists": lambda found: any(_truth(value) for _, value in found),
    "all": lambda found: all(_truth(value) for _, value in found),
    "filter": lambda found: [item for item, value in found if _truth(value)],
    "map": lambda found: [value for _, value in found],
}
"""Function for the result of each CEL macro. Its argument is a pair for each item of the list: the item, and the value
of the macro's inner expression for the item.
"""
_FUNCTIONS: Mapping[str, Callable[[Term], Term]] = {
    "has": _has,
    "dyn": lambda term: term,
    "string": lambda term: _applied(_text, term),
}
