"""Evaluates the expressions that this repository's GitHub workflows use: names, texts, `==`, `!=`, `&&` and `||`.

An expression of another form is an error, so that no test ignores one that it cannot evaluate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[a-z]\w*(\.[\w-]+)+")
_TEXT = re.compile(r"'([^']*)'")
_VARIABLE = re.compile(r"vars\.(\w+)|vars\[format\('([^']*)', ([\w.]+)\)\]")
_HASH_FILES = re.compile(r"hashFiles\('([^'*]+)'\)")
_STATES = ("always()", "failure()", "cancelled()")
_FROM_JSON = re.compile(r"fromJson\((.*)\)", re.IGNORECASE)


def filled(text: str, names: Mapping[str, Any]) -> str:
    """Text in which each `${{ … }}` is replaced by its value.

    >>> filled("${{ inputs.environment }}-preview", {"inputs.environment": "dev"})
    'dev-preview'
    """
    return _EXPRESSION.sub(lambda found: str(value(found[1], names)), text)


def value(expression: str, names: Mapping[str, Any]) -> Any:
    """Value of an expression. Raises ValueError for an unknown form of expression, and KeyError for an unknown name.

    >>> value("inputs.login != 'true' && 'pip' || ''", {"inputs.login": "true"})
    ''
    """
    text = expression.strip()
    if "||" in text:
        first, rest = text.split("||", 1)
        return value(first, names) or value(rest, names)
    if "&&" in text:
        first, rest = text.split("&&", 1)
        return value(first, names) and value(rest, names)
    for operator in ("==", "!="):
        if operator in text and not _FROM_JSON.fullmatch(text):
            left, right = (value(side, names) for side in text.split(operator, 1))
            return (left == right) == (operator == "==")
    return _atom(text, names)


def _atom(text: str, names: Mapping[str, Any]) -> Any:
    if found := _TEXT.fullmatch(text):
        return found[1]
    if found := _FROM_JSON.fullmatch(text):
        return json.loads(value(found[1], names))
    if found := _VARIABLE.fullmatch(text):
        # A variable that is not set is empty. Names of variables are not case-sensitive (GitHub docs, contexts and
        # variables).
        name = found[1] or found[2].format(names[found[3]])
        known = {key.lower(): each for key, each in names.items()}
        return known.get(f"vars.{name}".lower(), "")
    if found := _HASH_FILES.fullmatch(text):
        return names["hashFiles"](found[1])
    if text.startswith("!") and text[1:] in _STATES:
        return not names[text[1:]]
    if _NAME.fullmatch(text) or text in _STATES:
        return names[text]
    raise ValueError(f"an expression of a form that is not known: {text}")
