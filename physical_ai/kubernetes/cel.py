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
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from physical_ai.kubernetes.cel_terms import (
    COMPARE,
    FUNCTIONS,
    LITERALS,
    MACROS,
    METHODS,
    EvaluationError,
    Scope,
    Term,
    applied,
    as_optional,
    constant,
    contains,
    indexed,
    lazy,
    negated,
    selected,
    truth,
)

__all__ = ["EvaluationError", "Scope", "Term", "Unsupported", "evaluate", "parse"]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|\.\?|[()\[\]{}.,!+<>?:]))"
)


class Unsupported(ValueError):
    """Raised where an expression uses something that this module does not implement."""


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
        return lambda scope: yes(scope) if truth(condition(scope)) else no(scope)

    def either(self) -> Term:
        found = self.both()
        while self._next_is("||"):
            found = lazy(found, self.both(), decisive=True)
        return found

    def both(self) -> Term:
        found = self.relation()
        while self._next_is("&&"):
            found = lazy(found, self.relation(), decisive=False)
        return found

    def relation(self) -> Term:
        left = self.sum()
        if self._next_is("in"):
            return applied(contains, left, self.sum())
        if sign := self._next_is(*COMPARE):
            return applied(COMPARE[sign], left, self.sum())
        return left

    def sum(self) -> Term:
        found = self.unary()
        while self._next_is("+"):
            found = applied(operator.add, found, self.unary())
        return found

    def unary(self) -> Term:
        if self._next_is("!"):
            return applied(negated, self.unary())
        return self.postfix()

    def postfix(self) -> Term:
        found = self.primary()
        while sign := self._next_is(".", ".?", "["):
            if sign == "[":
                found = applied(indexed, found, self.expression())
                self._expect("]")
                continue
            name = self.rest.pop(0)
            found = self._call(found, name) if self._next_is("(") else selected(found, name, sign == ".?")
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
        if word in FUNCTIONS and self._next_is("("):
            found = self.expression()
            self._expect(")")
            return FUNCTIONS[word](found)
        if word in LITERALS or word[0] in "\"'" or word.isdigit():
            return constant(word)
        if not re.fullmatch(r"[A-Za-z_]\w*", word) or (self.rest and self.rest[0] == "("):
            raise Unsupported(f"{word!r} is not known")
        return lambda scope: indexed(scope, word)

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
            return lambda scope: found.value if (found := as_optional(of(scope))).is_there else other(scope)
        if name == "size":
            self._expect(")")
            return applied(len, of)
        if name in METHODS:
            part = self.expression()
            self._expect(")")
            return applied(METHODS[name], part, of)
        if name not in MACROS:
            raise Unsupported(f"the function {name!r} is not known")
        variable = self.rest.pop(0)
        self._expect(",")
        inner = self.expression()
        self._expect(")")
        macro = MACROS[name]
        return lambda scope: macro((item, inner({**scope, variable: item})) for item in of(scope))
