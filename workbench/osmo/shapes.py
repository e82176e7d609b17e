"""Maps and lists out of data of unknown shape."""

from __future__ import annotations

from typing import Any, cast


def a_map(value: Any) -> dict[str, Any]:
    """The value where it is a map, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
