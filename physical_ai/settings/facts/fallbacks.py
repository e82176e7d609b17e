"""A pool with one of its fallbacks applied, and the change of settings that applies it. Pure functions."""

from __future__ import annotations

from typing import Any

from physical_ai.settings.models.node_pools import Fallback, Pool
from physical_ai.settings.models.tree import Settings


def applied(pool: Pool, fallback: Fallback) -> Pool:
    """Pool with the values of the fallback. If the fallback is a pool of another stack, the result is the unchanged
    pool.
    """
    given = fallback.model_dump(exclude_none=True, exclude={"stack"})
    return pool.model_copy(update={name: getattr(fallback, name) for name in given})


def with_pool(settings: Settings, name: str, pool: Pool) -> Settings:
    """Settings in which `pool` replaces the pool with this name."""
    return settings.model_copy(update={"pools": {**settings.pools, name: pool}})


def change(name: str, pool: Pool, fallback: Fallback) -> dict[str, Any]:
    """Settings layer that makes the stack use the fallback; empty where the pool already has the fallback's values."""
    given = fallback.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"stack"})
    before = pool.model_dump(mode="json", by_alias=True)
    changed = {key: value for key, value in given.items() if before[key] != value}
    return {"pools": {name: changed}} if changed else {}
