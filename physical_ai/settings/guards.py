"""Narrowing of decoded data for the type checker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    """A decoded mapping; its keys have been checked to be text when it was read."""
    return isinstance(value, dict)


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Like `is_map`, for mappings that are only read."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """A decoded list."""
    return isinstance(value, list)
