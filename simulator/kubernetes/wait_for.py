"""Conditions of the annotation `pulumi.com/waitFor`: what an object has to have before an operation ends. Pure
functions.
"""

from __future__ import annotations

import json
from typing import Any, cast

from simulator.kubernetes.jsonpath import find
from simulator.kubernetes.objects import Object
from simulator.kubernetes.readiness import Waiting, condition_of


def waiting_for(obj: Object, expressions: str) -> Waiting | None:
    """Unmet conditions of the `pulumi.com/waitFor` annotation; None if all conditions are met.

    An expression has the form `condition=Type[=Status]` or `jsonpath={.path}[=value]`. The annotation is one
    expression, or a JSON list of expressions that must all hold. Raises ValueError for any other form, and
    JsonPathError for a path that can't be read.
    """
    missing = tuple(text for text in (_unmet(obj, one) for one in parse_wait_for(expressions)) if text)
    return Waiting(missing) if missing else None


def parse_wait_for(expressions: str) -> list[str]:
    """The separate expressions of a `pulumi.com/waitFor` annotation. Raises ValueError if an expression has no known
    form.
    """
    try:
        parsed: Any = json.loads(expressions)
    except ValueError:
        parsed = expressions
    wanted = [str(item) for item in cast("list[Any]", parsed)] if isinstance(parsed, list) else [expressions]
    if not wanted:
        raise ValueError("at least one condition must be specified")
    for expression in wanted:
        if not expression.startswith(("jsonpath=", "condition=")):
            raise ValueError(f'expected a "jsonpath=" or "condition=" prefix, got "{expression}"')
    return wanted


def _unmet(obj: Object, expression: str) -> str:
    form, _, rest = expression.partition("=")
    if form == "condition":
        kind, _, status = rest.partition("=")
        wanted = status or "True"
        held = condition_of(obj, kind)
        if str(held.get("status", "")).lower() == wanted.lower():
            return ""
        message = f": {held['message']}" if held.get("message") else ""
        return f'condition "{kind}" is {held.get("status", "not set")}, waiting for {wanted}{message}'
    path, value = (rest[: rest.index("}") + 1], rest[rest.index("}") + 1 :]) if "}" in rest else (rest, "")
    found = find(obj, path)
    if not value.startswith("="):
        return "" if found else f"{path} is not set"
    wanted = value[1:].strip("'\"")
    shown = ", ".join(map(_text, found)) or "not set"
    return "" if found and all(_text(item) == wanted for item in found) else f"{path} is {shown}, waiting for {wanted}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
