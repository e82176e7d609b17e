"""Names of the series that a PromQL expression reads. This is no parser: promtool checks the syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_SELECTOR = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")
_NAME = re.compile(r"(?<![\w:.])([A-Za-z_:][\w:]*)(?!\s*\()(?![\w:])")
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "by", "without", "on", "inf", "nan"})


def metrics(expression: str) -> frozenset[str]:
    """Names of the series that a PromQL expression reads.

    >>> sorted(metrics('max by (node) (rate(a_total{x="b"}[5m])) > 1 and on (node) c:d == 0'))
    ['a_total', 'c:d']
    """
    text = _SELECTOR.sub("", _GROUPING.sub("", _TEXT.sub("", expression)))
    functions = set(re.findall(r"([A-Za-z_]\w*)\s*\(", text))
    return frozenset(
        name for name in _NAME.findall(text) if name.lower() not in _WORDS and name not in functions and name != "e"
    )


def selecting(expression: str, names: Iterable[str], matcher: str) -> str:
    """The expression with `matcher` added to each selector of a series in `names`.

    >>> selecting('sum(a{x="b"}) / c', ["a", "c"], 'y="z"')
    'sum(a{y="z",x="b"}) / c{y="z"}'
    """
    found = re.compile(
        rf"(?<![\w:\"])({'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})(?![\w:(\"])(\{{)?"
    )
    return (
        found.sub(lambda each: f"{each[1]}{{{matcher}" + ("," if each[2] else "}"), expression) if names else expression
    )
