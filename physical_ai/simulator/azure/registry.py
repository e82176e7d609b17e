"""Which function enforces, or acts out, which row of rules.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_modelled: dict[str, str] = {}


def models(*rule_ids: str) -> Callable[[Function], Function]:
    """Marks a function as the implementation of these rules."""

    def mark(function: Function) -> Function:
        for rule_id in rule_ids:
            _modelled[rule_id] = f"{function.__module__}.{function.__qualname__}"
        return function

    return mark


def modelled_by() -> Mapping[str, str]:
    """Rule id → the function that enforces or acts it out, for every module imported so far."""
    return dict(_modelled)
