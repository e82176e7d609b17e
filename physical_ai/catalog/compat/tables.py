"""Keys of the pinned charts' values, except the GPU Operator's, and the versions at which they were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from physical_ai.catalog.charts import Chart, chart, keys_file
from physical_ai.catalog.compat.keys import KeyTable, Refused, holds, kinds, none_refused
from physical_ai.catalog.gpu_load import CHARTS
from physical_ai.catalog.gpu_rows import KeyGroup, KeyNote, Switches
from physical_ai.catalog.load import read_all_rows, read_rows, row
from physical_ai.catalog.lookup import nearest
from physical_ai.catalog.reading import file_label
from physical_ai.findings import Finding, Severity
from physical_ai.nested import at


@lru_cache(maxsize=32)
def key_table(name: str, version: str) -> KeyTable:
    """Table of the keys that a pinned chart, other than the GPU Operator's, renders. Raises `UnknownName`."""
    pinned = chart(name, version)
    groups = [group for group in _groups(name) if holds(group, pinned.version)]
    file = keys_file(name).with_name(f"{name}-notes.yaml")
    notes = [row(KeyNote, data, file_label(file)) for data in read_rows(file)] if file.exists() else []
    return KeyTable(
        f"{name} {pinned.version}",
        groups[0].source,
        kinds(groups),
        {path: note for note in notes for path in note.paths},
        switches=switches(name),
    )


@lru_cache(maxsize=1)
def _switches() -> Mapping[str, frozenset[str]]:
    rows = [row(Switches, data, file) for file, data in read_all_rows(CHARTS / "switches.yaml")]
    return {each.chart: frozenset(each.keys) for each in rows}


def switches(name: str) -> frozenset[str]:
    """Keys of a chart that accept only `true` or `false`."""
    return _switches().get(name, frozenset())


@lru_cache(maxsize=8)
def choices(name: str) -> Mapping[str, tuple[str, ...]]:
    """Allowed values of a chart's keys, by path, for keys with a fixed set of values."""
    return {path: texts for group in _groups(name) for path, texts in group.choices.items()}


def check_chart(name: str, version: str, values: Mapping[str, Any], refused: Refused = none_refused) -> list[Finding]:
    """Findings about keys that a pinned chart would ignore, and about invalid values. Raises `UnknownName`."""
    table = key_table(name, version)
    return [*table.check(values, refused), *_impossible(name, table.source, values)]


def _impossible(name: str, source: str, values: Mapping[str, Any]) -> Iterator[Finding]:
    for path, texts in choices(name).items():
        value = at(values, path)
        if value is not None and value not in texts:
            near = nearest(str(value), [text for text in texts if text])
            listed = ", ".join(text or '""' for text in texts)
            fix = f"Did you mean {near}?  One of: {listed}." if near else f"One of: {listed}."
            yield Finding(Severity.ERROR, "chart-value", path, f"'{value}' is not possible here.", fix, source)


@lru_cache(maxsize=32)
def _groups(name: str) -> tuple[KeyGroup, ...]:
    file = keys_file(name)
    return tuple(row(KeyGroup, data, file_label(file)) for data in read_rows(file))


def keys_read(name: str) -> frozenset[str]:
    """Versions of a chart at which its keys were read."""
    return frozenset(version for group in _groups(name) for version in group.read)


def key_versions(charts: Iterable[Chart]) -> Iterator[Finding]:
    """Findings about charts whose keys were read at another version than the pinned one: a key may be missing, or have
    no effect.
    """
    for pin in charts:
        if pin.keys:
            yield Finding(
                Severity.INFO,
                "chart-keys-version",
                "charts",
                f"The keys of the chart {pin.name} {pin.version} were read at {pin.keys.version}: {pin.keys.reason}.",
                "Compare your values with the values.yaml of the pinned version, before production.",
                pin.source,
            )
