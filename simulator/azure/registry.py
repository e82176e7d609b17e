"""Registry of the functions that implement the rules of rules.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

MODELED: dict[str, str] = {}
"""Function that implements each rule, by rule id, for every module imported so far."""


def models(*rule_ids: str) -> Callable[[Function], Function]:
    """Decorator that marks a function as the implementation of these rules."""

    def mark(function: Function) -> Function:
        for rule_id in rule_ids:
            MODELED[rule_id] = f"{function.__module__}.{function.__qualname__}"
        return function

    return mark
