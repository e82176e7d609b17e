"""Expressions of ARM's template language, as far as templates of this project use them.

Source: ARM docs, template-expressions and template-functions: a text in brackets is an expression, `[[` begins a text
with a bracket, and an apostrophe is doubled in a literal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

_TOKEN = re.compile(r"\s*(?:'((?:[^']|'')*)'|([A-Za-z_]\w*)|(-?\d+)|([().,\[\]]))")


class InvalidTemplate(Exception):
    """Error for a template that ARM cannot read, with ARM's message."""


class Unresolved(str):
    """Placeholder for a computed value of a resource that was refused. A property of the placeholder is a placeholder,
    too.
    """

    __slots__ = ()


@dataclass
class Scope:
    """Values that the expressions of one template may refer to."""

    parameters: Mapping[str, Any]
    reference: Callable[[str], Any]
    """Function that returns the computed properties of a resource, given its id."""
    functions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Results of the template functions that take no arguments, by function name, such as `subscription`."""
    subscription: str = ""

    def evaluated(self, value: Any) -> Any:
        """A template's value with all its expressions replaced by their results. Raises InvalidTemplate."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value).items()
            return {str(self._text(name)): self.evaluated(item) for name, item in members}
        if isinstance(value, list):
            return [self.evaluated(each) for each in cast("list[Any]", value)]
        return value

    def _text(self, text: str) -> Any:
        if text.startswith("[["):
            return text[1:]
        if not (text.startswith("[") and text.endswith("]")):
            return text
        tokens = _tokens(text[1:-1])
        value = self._expression(tokens)
        if tokens:
            raise InvalidTemplate(f"Unable to parse language expression '{text[1:-1]}'.")
        return value

    def _expression(self, tokens: list[tuple[str, str]]) -> Any:
        value = self._term(tokens)
        while tokens and tokens[0] == ("mark", "."):
            tokens.pop(0)
            name = _take(tokens, "name")
            if isinstance(value, Unresolved):
                continue
            holder: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
            if name not in holder:
                raise InvalidTemplate(f"The language expression property '{name}' doesn't exist.")
            value = holder[name]
        return value

    def _term(self, tokens: list[tuple[str, str]]) -> Any:
        kind, text = tokens.pop(0) if tokens else ("end", "")
        if kind == "text":
            return text.replace("''", "'")
        if kind == "number":
            return int(text)
        if kind != "name":
            raise InvalidTemplate("Unable to parse language expression: expected a literal or a function.")
        _take(tokens, "mark", "(")
        arguments: list[Any] = []
        while tokens and tokens[0] != ("mark", ")"):
            arguments.append(self._expression(tokens))
            if tokens and tokens[0] == ("mark", ","):
                tokens.pop(0)
        _take(tokens, "mark", ")")
        return self._called(text, arguments)

    def _called(self, name: str, arguments: list[Any]) -> Any:
        match name.lower():
            case "concat":
                return "".join(str(each) for each in arguments)
            case "parameters" | "reference" | "subscriptionresourceid" if not arguments:
                raise InvalidTemplate(f"The template function '{name}' is called without its arguments.")
            case "parameters":
                wanted = str(arguments[0])
                if wanted not in self.parameters:
                    raise InvalidTemplate(f"The template parameter '{wanted}' is not found.")
                return self.parameters[wanted]
            case "reference":
                return self.reference(str(arguments[0]))
            case "subscriptionresourceid":
                kind, *names = (str(each) for each in arguments)
                namespace, *types = kind.split("/")
                if len(types) != len(names):
                    raise InvalidTemplate(f"The template function '{name}' has other names than types.")
                path = "/".join(f"{type}/{own}" for type, own in zip(types, names, strict=True))
                return f"/subscriptions/{self.subscription}/providers/{namespace}/{path}"
            case other if other in self.functions and not arguments:
                return self.functions[other]
            case _:
                raise InvalidTemplate(f"The template function '{name}' is not valid.")


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text.rstrip()):
        one = _TOKEN.match(text, at)
        if one is None:
            raise InvalidTemplate(f"Unable to parse language expression '{text}'.")
        kinds = ("text", "name", "number", "mark")
        kind, value = next((kind, value) for kind, value in zip(kinds, one.groups(), strict=True) if value is not None)
        found.append((kind, value))
        at = one.end()
    return found


def _take(tokens: list[tuple[str, str]], kind: str, value: str | None = None) -> str:
    if not tokens or tokens[0][0] != kind or (value is not None and tokens[0][1] != value):
        raise InvalidTemplate(f"Unable to parse language expression: expected {value or 'a name'}.")
    return tokens.pop(0)[1]
