"""Detection of node pools that a stack file or overlay describes incompletely, usually because of a misspelled name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.merge import Layer, Merged
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.layers.shape import shape_at


def incomplete_pools(merged: Merged, missing: Sequence[Path]) -> Iterator[Fault]:
    """Faults of pools that only one file describes, and that lack required keys. A fault names the missing keys and the
    existing pool that was probably meant.

    A pool whose name resembles no other pool's name is reported only if at least half of the required keys are missing.

    Args:
        missing: Settings that the stack's target requires and no file sets.
    """
    pools: Any = merged.data.get("pools")
    for name, pool in pools.items() if is_map(pools) else ():
        needed = list(dict.fromkeys([*_needed(), *(str(path[-1]) for path in missing if path[:2] == ("pools", name))]))
        lacking = [key for key in needed if is_map(pool) and key not in pool]
        if not lacking or sum(_describes(layer, name) for layer in merged.layers) != 1:
            continue
        others = [other for other in pools if other != name]
        near = nearest(name, others)
        if near is None and 2 * len(lacking) < len(needed):
            continue
        problem = f"There is no pool '{name}' to change, and a new one needs more: {', '.join(lacking)}."
        fix = f"Did you mean 'pools.{near}'?" if near else f"Pools: {', '.join(others) or 'none'}."
        yield merged.fault(("pools", name), problem, fix)


def _needed() -> list[str]:
    shape = shape_at(("pools", "name"))
    fields = shape.fields.items() if shape is not None else ()
    return [key for key, field in fields if field.info is not None and field.info.is_required()]


def _describes(layer: Layer, name: str) -> bool:
    pools: Mapping[str, Any] | None = layer.data.get("pools")
    return is_map(pools) and name in pools
