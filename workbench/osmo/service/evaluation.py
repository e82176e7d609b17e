"""Evaluation of resource validations with a task's tokens."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from workbench.osmo import units
from workbench.osmo.jinja import render
from workbench.osmo.refusal import crash
from workbench.osmo.service.assertions import ResourceAssertion

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "GT": operator.gt,
    "GE": operator.ge,
    "LT": operator.lt,
    "LE": operator.le,
    "EQ": operator.eq,
}
_NUMBER = re.compile(r"\d+(\.\d+)?")


def failure(assertion: ResourceAssertion, tokens: Mapping[str, Any], task: str) -> str | None:
    """Message of a resource validation that fails for a task; None if the task meets it. Raises Refusal if OSMO cannot
    evaluate the validation.
    """
    left, right = (_operand(text, tokens) for text in (assertion.left_operand, assertion.right_operand))
    # The message is rendered first: an unknown token in it is an error even if the comparison holds.
    message = render(assertion.assert_message, tokens)
    try:
        holds = _COMPARISONS[str(assertion.operator)](left, right)
    except TypeError:
        raise crash(f"{task}: '{left}' {assertion.operator} '{right}' can't be compared") from None
    return None if holds else f"Assertion failed for task {task}: {message}"


def _operand(text: str, tokens: Mapping[str, Any]) -> float | str:
    """The value of an operand after rendering: an amount in Ki, a number, or else the text.

    A number with a sign, or in the forms `.5` and `1e3`, counts as text.
    """
    rendered = render(text, tokens)
    if units.AMOUNT.fullmatch(rendered) and rendered.endswith(tuple(units.POWERS)):
        return int(units.convert(rendered, "Ki"))
    return float(rendered) if _NUMBER.fullmatch(rendered) else rendered
