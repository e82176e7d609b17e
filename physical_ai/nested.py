"""Reading decoded JSON and YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """A decoded mapping that is only read; its keys have been checked to be text when it was read."""
    return isinstance(value, (dict, Mapping))  # dict first: the other question takes ten times as long


def at(value: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path; `default` if any part of it is missing or null.

    >>> at({"spec": {"replicas": 2}}, "spec.replicas"), at({"spec": None}, "spec.replicas", 1)
    (2, 1)
    """
    for part in path.split("."):
        if not is_mapping(value):
            return default
        value = value.get(part)
    return default if value is None else value
