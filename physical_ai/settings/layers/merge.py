"""Merging of layers: maps are merged key by key, lists and values are replaced, null removes a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.findings import Severity
from physical_ai.nested import is_mapping
from physical_ai.releases.renames import former
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers import elsewhere
from physical_ai.settings.layers.chart_sections import file_of
from physical_ai.settings.layers.document import nearest_line
from physical_ai.settings.layers.paths import Path, show
from physical_ai.settings.layers.shape import FROM_STACK_NAME, shape_at

ALIKE = 0.65
"""Smallest similarity at which a key counts as a misspelling of another key: tags and taints have 0.6, kubelet and
subnet 0.62.
"""
POOLS = ("pools", "cpuPool", "systemPool")
"""Sections with node pools."""
ROLE = ("priority", "scale", "spot", "labels", "taints")
"""Keys of a pool that describe its use and not its hardware. A pool that replaces another one takes over the values of
these keys.
"""
STACK_FILE_PREFIX = "physical-ai:"
"""Prefix of each top-level key in a stack file."""


@dataclass(frozen=True)
class Layer:
    """Settings from one file."""

    label: str
    """Name of the file in messages."""
    data: Mapping[str, Any]
    prefix: str = ""
    """Prefix of each top-level key in the file: `physical-ai:` in a stack file."""
    lines: Mapping[Path, int] = field(default_factory=dict[Path, int])

    def fault(self, path: Path, problem: str, fix: str | None = None, *, severity: Severity = Severity.ERROR) -> Fault:
        """Fault about the value at `path` in this layer's file."""
        where = f"{self.prefix}{show(path)}"
        return fault(self.label, where, problem, fix, severity=severity, line=nearest_line(self.lines, path))


@dataclass
class Merged:
    """Result of merging the layers: the effective settings, and the layer that set each of them last."""

    layers: Sequence[Layer]
    """Merged layers, lowest first."""
    last: Layer
    """Layer of the stack file. If no layer sets a required value, the fault says that the value should be written in
    this file.
    """
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    sources: dict[Path, Layer] = field(default_factory=dict[Path, Layer])
    """Layer that set or removed the value at each path; for a map, the last layer that set anything in it."""
    faults: list[Fault] = field(default_factory=list[Fault])
    replaced: dict[str, tuple[str, Layer]] = field(default_factory=dict[str, "tuple[str, Layer]"])
    """Replaced pools: by the name of the new pool, the name of the old pool and the layer that replaces it."""

    def source(self, path: Path) -> Layer:
        """Layer that sets the value at `path`. If no layer sets it, the layer that sets the nearest section around it;
        if no layer sets one, the stack file's layer.
        """
        for length in range(len(path), 0, -1):
            if path[:length] in self.sources:
                return self.sources[path[:length]]
        return self.last

    def fault(self, path: Path, problem: str, fix: str | None = None, *, severity: Severity = Severity.ERROR) -> Fault:
        """A fault at `path`, attributed to the layer that set the value."""
        return self.source(path).fault(path, problem, fix, severity=severity)

    def missing(self, path: Path, problem: str, fix: str | None) -> Fault:
        """Fault about a required value that no layer sets. The fault names the file in which the value should be
        written.

        A missing value of a pool or section belongs in the stack file, or in the layer that adds the pool. A missing
        nested value belongs in the file that sets its parent. A value that null removed belongs in the file with the
        null.
        """
        source = self.source(path)
        is_deep = len(path) > (3 if path[0] == "pools" else 2)
        if path in self.sources or is_deep or self.rank(source) > self.rank(self.last):
            return source.fault(path, problem, fix)
        return self.last.fault(path, problem, fix)

    def rank(self, layer: Layer) -> int:
        """Position of a layer, counted from the lowest."""
        return next(index for index, other in enumerate(self.layers) if other is layer)

    def latest(self, path: Path, others: Sequence[Path]) -> Path:
        """Path that the uppermost layer sets, out of `path` and `others`, whose settings exclude each other. The user
        probably changed this setting last.
        """
        return max((path, *others), key=lambda place: self.rank(self.source(place)))


def merge(layers: Sequence[Layer], last: Layer) -> Merged:
    """Merges the layers, lowest first; `last` is the stack file's layer."""
    merged = Merged(layers, last)
    for layer in layers:
        _lay(merged, layer, merged.data, _in_place(merged, layer), ())
    return merged


def _in_place(merged: Merged, layer: Layer) -> Mapping[str, Any]:
    """Data of a layer after its pools with `replaces: OLD` have replaced the pool OLD of a lower layer: the new pool
    takes over the values of the keys in `ROLE`, and OLD is removed.

    If a lower layer has already removed OLD, the new pool is left out.
    """
    pools = layer.data.get("pools")
    if not is_map(pools):
        return layer.data
    kept = dict(pools)
    for name, pool in pools.items():
        old = pool.get("replaces") if is_map(pool) else None
        if not isinstance(old, str):
            continue
        kept[name] = {key: value for key, value in pool.items() if key != "replaces"}
        below: dict[str, Any] = merged.data.get("pools") or {}
        given = below.get(old)
        if is_map(given) and old != name:
            merged.replaced[name] = (old, layer)
            _take_role(merged, old, name, given)
            if old in kept and kept[old] is None:
                del kept[old]
            _remove(merged, layer, below, ("pools", old))
        elif old != name and ("pools", old) in merged.sources:
            del kept[name]
        else:
            others = [each for each in below if each != name]
            near = nearest(old, others)
            fix = f"Did you mean '{near}'?" if near else f"Pools of the layers below: {', '.join(others) or 'none'}."
            problem = "A pool can't replace itself." if old == name else f"No layer below has a pool '{old}'."
            merged.faults.append(layer.fault(("pools", name, "replaces"), problem, fix))
    return {**layer.data, "pools": kept}


def _take_role(merged: Merged, old: str, new: str, given: Mapping[str, Any]) -> None:
    target: dict[str, Any] = merged.data["pools"].setdefault(new, {})
    for key in ROLE:
        if key in given:
            target[key] = deepcopy(given[key])
            before = ("pools", old, key)
            for path, source in list(merged.sources.items()):
                if path[:3] == before:
                    merged.sources["pools", new, *path[2:]] = source


def _lay(merged: Merged, layer: Layer, target: dict[str, Any], source: Mapping[str, Any], path: Path) -> None:
    for key, value in source.items():
        setting = (*path, key)
        if value is None:
            _remove(merged, layer, target, setting)
            continue
        for length in range(1, len(setting) + 1):
            merged.sources[setting[:length]] = layer
        if is_mapping(value):
            inner = target.get(key)
            if not is_map(inner):
                inner = target[key] = dict[str, Any]()
            _lay(merged, layer, inner, value, setting)
        else:
            target[key] = value


def _remove(merged: Merged, layer: Layer, target: dict[str, Any], path: Path) -> None:
    """Removes what lower layers set at a path. A null for an unknown key would have no effect, so it is reported
    here.
    """
    key = str(path[-1])
    parent = shape_at(path[:-1])
    if parent is not None and parent.kind == "model" and key not in parent.fields:
        merged.faults.append(layer.fault(path, *unknown_key(path)))
    elif parent is not None and parent.kind == "map" and key not in target:
        near = nearest(key, target)
        fix = f"Did you mean '{near}'?" if near else "Remove the line."
        merged.faults.append(layer.fault(path, f"null removes nothing: no lower layer sets '{key}'.", fix))
    target.pop(key, None)
    for place in [known for known in merged.sources if known[: len(path)] == path]:
        del merged.sources[place]
    merged.sources[path] = layer


def unknown_key(path: Path) -> tuple[str, str | None]:
    """Problem of a key that is not a setting, and advice: the name of the most similar setting, or where else to write
    the value.
    """
    before = former(path)
    return (before.problem, before.fix) if before is not None else _never_a_setting(path)


def _never_a_setting(path: Path) -> tuple[str, str | None]:
    key, parent = str(path[-1]), shape_at(path[:-1])
    if len(path) == 1 and key in FROM_STACK_NAME:
        return f"'{key}' can't be set: it follows from the stack's name.", "Remove the line."
    if len(path) == 1 and key.startswith(STACK_FILE_PREFIX):
        return f"The prefix '{STACK_FILE_PREFIX}' belongs in stack files only.", f"Write '{key.partition(':')[2]}'."
    if len(path) == 1 and key == "config":
        problem = "'config' is not a setting: only a stack file has it, above its settings."
        return problem, f"Write the settings at the top level, without '{STACK_FILE_PREFIX}' before them."
    if parent is None or parent.kind != "model":
        return f"'{key}' is not a setting.", None
    if (file := file_of(path)) is not None:
        fix = f"Such values are in {file}; docs/reference/chart-values.md has those that follow from settings."
        return f"'{key}' is not a setting: it is a value of a chart.", fix
    return _unknown_of_model(path, list(parent.fields))


def _unknown_of_model(path: Path, fields: Sequence[str]) -> tuple[str, str | None]:
    key = str(path[-1])
    if path[0] in POOLS and (advice := elsewhere.advice(path)) is not None:
        return f"'{key}' is not a setting of a pool.", advice
    near = nearest(key, fields, ALIKE)
    known = f"Known here: {', '.join(fields)}." if fields else "Remove the line: nothing can be set here."
    return f"'{key}' is not a setting.", f"Did you mean '{near}'?" if near else known
