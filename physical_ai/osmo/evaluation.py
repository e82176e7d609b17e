"""Resource validations put to work: an assertion with its tokens, a task with all of its platform."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from physical_ai.osmo import units
from physical_ai.osmo.assertions import ResourceAssertion
from physical_ai.osmo.jinja import render
from physical_ai.osmo.refusal import Refusal

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "GT": operator.gt,
    "GE": operator.ge,
    "LT": operator.lt,
    "LE": operator.le,
    "EQ": operator.eq,
}
_NUMBER = re.compile(r"\d+(\.\d+)?")
_RESOURCES: dict[str, Literal["count", "size"]] = {"storage": "size", "cpu": "count", "memory": "size", "gpu": "count"}


def evaluate(assertion: ResourceAssertion, tokens: Mapping[str, Any], task: str) -> None:
    """Raises Refusal: AssertionError when it does not hold, others where OSMO stumbles over it."""
    left, right = (_operand(text, tokens) for text in (assertion.left_operand, assertion.right_operand))
    # The message comes first: an unknown token in it fails even where the comparison holds.
    message = render(assertion.assert_message, tokens)
    try:
        holds = _COMPARISONS[str(assertion.operator)](left, right)
    except TypeError:
        raise Refusal("TypeError", f"{task}: '{left}' {assertion.operator} '{right}' can't be compared") from None
    if not holds:
        raise Refusal("AssertionError", f"Assertion failed for task {task}: {message}")


def _operand(text: str, tokens: Mapping[str, Any]) -> float | str:
    """An operand's value: an amount in Ki, a number, or else text, which is what signs, `.5` and `1e3` make of it."""
    rendered = render(text, tokens)
    if units.AMOUNT.fullmatch(rendered) and rendered.endswith(tuple(units.POWERS)):
        return int(units.convert(rendered, "Ki"))
    return float(rendered) if _NUMBER.fullmatch(rendered) else rendered


def node_tokens(
    fields: Mapping[str, Mapping[str, Mapping[str, Any]]],
    exposed: Mapping[str, Any],
    pool: str,
    platform: str,
) -> dict[str, Any]:
    """K8_ tokens of a node: what it has for the pool's platform, or what it shows where nothing is kept for that."""
    tokens: dict[str, Any] = {}
    known = fields.get(pool, {}).get(platform)
    for name, kind in _RESOURCES.items():
        if known is None:
            shown = exposed.get(name)
            tokens[f"K8_{name.upper()}"] = (f"{shown}Gi" if shown else "0") if kind == "size" else (shown or "0")
        elif kind == "size":
            tokens[f"K8_{name.upper()}"] = f"{units.convert(str(known.get(name, '0')), 'Ki')}Ki"
        else:
            tokens[f"K8_{name.upper()}"] = known.get(name, "0")
    return tokens
