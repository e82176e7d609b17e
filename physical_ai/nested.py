"""Reading of decoded JSON and YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard, cast


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """True for a mapping in decoded data. Callers may rely on keys that are text, because the reader of the data has
    checked them, and must not change the mapping.
    """
    return isinstance(value, (dict, Mapping))  # dict comes first: the check against Mapping takes ten times as long


def at(value: Any, path: str, default: Any = None) -> Any:
    """Value at a dotted path; `default` if any part of the path is missing or null.

    >>> at({"spec": {"replicas": 2}}, "spec.replicas"), at({"spec": None}, "spec.replicas", 1)
    (2, 1)
    """
    for part in path.split("."):
        if not is_mapping(value):
            return default
        value = value.get(part)
    return default if value is None else value


def parsed(text: Any) -> Any:
    """Decoded JSON of a text that somebody else wrote, for example into a ConfigMap; None for anything that is not
    JSON.
    """
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The mappings in a list; an empty list where the value is no list.

    >>> mappings([{"a": 1}, 2]), mappings("a")
    ([{'a': 1}], [])
    """
    return [each for each in cast("list[Any]", value) if is_mapping(each)] if isinstance(value, list) else []
