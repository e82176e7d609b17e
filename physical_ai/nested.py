"""Reading decoded JSON and YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def at(value: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path; `default` if any part of it is missing or null.

    >>> at({"spec": {"replicas": 2}}, "spec.replicas"), at({"spec": None}, "spec.replicas", 1)
    (2, 1)
    """
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return default
        value = cast("Mapping[str, Any]", value).get(part)
    return default if value is None else value
