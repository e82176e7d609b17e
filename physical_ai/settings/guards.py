"""Narrowing of decoded data for the type checker."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    """A decoded mapping; its keys have been checked to be text when it was read."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """A decoded list."""
    return isinstance(value, list)
