"""Accessors for maps and lists in data of unknown shape."""

from __future__ import annotations

from typing import Any, cast


def a_map(value: Any) -> dict[str, Any]:
    """The value if it is a map, else an empty map."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return cast("list[Any]", value) if isinstance(value, list) else []
