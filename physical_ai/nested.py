"""Reading of decoded JSON and YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
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


_PARTS = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')


def path_parts(path: str) -> list[str]:
    """Keys and indices of a property path as the engine writes it. A key in quotes keeps its dots.

    >>> path_parts('nodeLabels["nvidia.com/gpu"]'), path_parts("taints[2]")
    (['nodeLabels', 'nvidia.com/gpu'], ['taints', '2'])
    """
    return [quoted.replace('\\"', '"') or index or plain for quoted, index, plain in _PARTS.findall(path)]


def at_path(value: Any, path: str, absent: Any = None, ends: Callable[[Any], bool] | None = None) -> Any:
    """Value at a property path as the engine writes it, with indices and quoted keys; `absent` if a part is missing.
    The first value below the root for which `ends` is true is returned instead, whatever follows it in the path.

    >>> at_path({"labels": {"a.b/c": [1, 2]}}, 'labels["a.b/c"][1]'), at_path({}, "labels[0]", "no")
    (2, 'no')
    """
    for part in path_parts(path):
        if is_mapping(value) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(part)]
        else:
            return absent
        if ends is not None and ends(value):
            return value
    return value


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
