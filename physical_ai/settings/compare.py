"""Differences between a stack's own file and the layers below it, and between two stacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.merge import merge
from physical_ai.settings.layers.paths import Path, parse, show
from physical_ai.settings.loaded import DEFAULT, Explained, Loaded


@dataclass(frozen=True)
class Own:
    """Setting in the stack's own file. The value None removes what the layers set."""

    path: str
    value: Any
    below: Any
    """Value from the layers; None if they do not set it."""


@dataclass(frozen=True)
class Difference:
    """A setting in which two stacks differ. `a` and `b`: the setting in each stack; None for a stack without it."""

    path: str
    a: Explained | None
    b: Explained | None


def own_settings(loaded: Loaded) -> list[Own]:
    """Settings in the stack's own file, in the file's order, each with the value of the layers below it."""
    stack = loaded.merged.last
    lower = list(loaded.merged.layers)[: loaded.merged.rank(stack)]
    below = merge(lower, stack).data
    return [Own(show(path), value, _at(below, path)) for path, value in _leaves(stack.data, ())]


def differences(a: Loaded, b: Loaded) -> list[Difference]:
    """Effective settings in which two stacks differ, in the order of the settings tree.

    Environment and region, which are parts of the stacks' names, are left out, and so are defaults of a pool that one
    of the stacks lacks.
    """
    ours, theirs = (_by_path(each) for each in (a, b))
    order = _merged_order(list(ours), list(theirs))
    every = (Difference(path, ours.get(path), theirs.get(path)) for path in order)
    return [each for each in every if _is_relevant(each)]


def _is_relevant(found: Difference) -> bool:
    one_sided = found.a or found.b if found.a is None or found.b is None else None
    if one_sided is not None and one_sided.origin == DEFAULT:
        return False
    return _value(found.a) != _value(found.b)


def _by_path(loaded: Loaded) -> dict[str, Explained]:
    return {row.path: row for row in loaded.explain() if row.path not in ("environment", "region")}


def _value(row: Explained | None) -> Any:
    """Value of a setting for the comparison; None where the setting is absent or is an empty map or list."""
    return None if row is None or row.value in ({}, []) else row.value


def _merged_order(first: list[str], second: list[str]) -> list[str]:
    """Paths in `first`, followed by the paths that only `second` has. An added path of a section that `first` contains
    is placed behind the last path of this section.
    """
    order = list(first)
    for path in second:
        if path in order:
            continue
        for length in range(len(parse(path)) - 1, 0, -1):
            section = parse(path)[:length]
            found = [index for index, other in enumerate(order) if parse(other)[:length] == section]
            if found:
                order.insert(found[-1] + 1, path)
                break
        else:
            order.append(path)
    return order


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if is_mapping(value) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    else:
        yield path, value


def _at(data: Any, path: Path) -> Any:
    for step in path:
        if not is_map(data) or step not in data:
            return None
        data = data[str(step)]
    return data
