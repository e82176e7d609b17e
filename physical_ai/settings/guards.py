"""Type guards for decoded data."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    """True for a decoded mapping; its keys were checked to be text when the data was read."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """True for a decoded list."""
    return isinstance(value, list)
