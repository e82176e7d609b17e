"""Suggestions for a path that is not a setting of the stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers import elsewhere
from physical_ai.settings.layers.merge import ALIKE, POOLS
from physical_ai.settings.layers.paths import Path, parse, show

MOST = 6
"""Maximum number of paths that a suggestion lists."""


def suggestion(wanted: Path, values: Mapping[Path, Any], stack: str) -> str:
    """Text that suggests a known path similar to `wanted`. If none is similar, it lists the keys that exist beside the
    first unknown key of `wanted`.

    Args:
        wanted: A path that is neither a setting nor a section of settings.
        values: Every setting of the stack, with its value.
    """
    depth = max(n for n in range(len(wanted)) if _known(wanted[:n], values))
    branch, step = wanted[:depth], str(wanted[depth])
    steps = list(dict.fromkeys(str(path[depth]) for path in values if path[:depth] == branch and len(path) > depth))
    if not steps:
        return _whole(branch, values.get(branch), stack)
    places = _elsewhere(wanted, values) if not branch else []
    if places and len(places) <= MOST:
        return _meant(places[0]) if len(places) == 1 else f"It is at {', '.join(show(place) for place in places)}."
    if wanted[0] in POOLS and (advice := elsewhere.advice((*branch, step))) is not None:
        return advice
    near = nearest(step, steps, ALIKE)
    if near is None:
        listed = f"In '{show(branch)}': {', '.join(steps)}." if branch else f"Sections: {', '.join(steps)}."
        return listed if branch else f"{listed}  All settings: physai explain {stack}"
    complete = (*branch, near, *wanted[depth + 1 :])
    return _meant(complete if _known(complete, values) else (*branch, near))


def _whole(branch: Path, value: Any, stack: str) -> str:
    """Advice for a path that continues below `branch`, although the setting there is a single value, a list or an empty
    map.
    """
    kind = "a list, shown as a whole" if is_list(value) else "an empty map" if is_map(value) else "a single value"
    return f"'{show(branch)}' is {kind}: physai explain {stack} {show(branch)}"


def _elsewhere(wanted: Path, values: Mapping[Path, Any]) -> list[Path]:
    """Known paths that the user may have meant by `wanted`. If `wanted` is a known path once `/` and `:` are replaced
    by dots, only that path; in other cases, all paths that end with `wanted`.
    """
    text = re.sub(r"[/:]", ".", ".".join(str(step) for step in wanted)).strip(".")
    try:
        path = parse(text)
    except ValueError:
        return []
    if path != wanted and _known(path, values):
        return [path]
    ends = (known[:n] for known in values for n in range(len(path), len(known) + 1) if known[n - len(path) : n] == path)
    return list(dict.fromkeys(ends))


def _known(path: Path, values: Mapping[Path, Any]) -> bool:
    return any(known[: len(path)] == path for known in values)


def _meant(path: Path) -> str:
    return f"Did you mean '{show(path)}'?"
