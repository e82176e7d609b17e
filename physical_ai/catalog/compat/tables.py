"""Values keys of the charts whose versions are not distinguished: each file is of the version that is pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from physical_ai.catalog.charts import chart
from physical_ai.catalog.compat.keys import KeyTable, kinds
from physical_ai.catalog.gpu_load import CHARTS
from physical_ai.catalog.gpu_rows import KeyGroup, KeyNote
from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity
from physical_ai.nested import at


@lru_cache(maxsize=8)
def key_table(name: str, version: str) -> KeyTable:
    """The keys that a pinned chart renders, other than the GPU Operator's. Raises `UnknownName`."""
    pinned = chart(name, version)
    groups = _groups(name)
    notes = [row(KeyNote, data, f"{name}-notes.yaml") for data in read_rows(CHARTS / f"{name}-notes.yaml")]
    return KeyTable(
        f"{name} {pinned.version}",
        groups[0].source,
        kinds(groups),
        {path: note for note in notes for path in note.paths},
    )


@lru_cache(maxsize=8)
def choices(name: str) -> Mapping[str, tuple[str, ...]]:
    """Allowed values of keys of a chart, by path, if they are limited."""
    return {path: texts for group in _groups(name) for path, texts in group.choices.items()}


def check_chart(name: str, version: str, values: Mapping[str, Any]) -> list[Finding]:
    """Keys that a pinned chart would ignore, and invalid values. Raises `UnknownName`."""
    table = key_table(name, version)
    return [*table.check(values), *_impossible(name, table.source, values)]


def _impossible(name: str, source: str, values: Mapping[str, Any]) -> Iterator[Finding]:
    for path, texts in choices(name).items():
        value = at(values, path)
        if value is not None and value not in texts:
            near = nearest(str(value), [text for text in texts if text])
            listed = ", ".join(text or '""' for text in texts)
            fix = f"Did you mean {near}?  One of: {listed}." if near else f"One of: {listed}."
            yield Finding(Severity.ERROR, "chart-value", path, f"'{value}' is not possible here.", fix, source)


def _groups(name: str) -> list[KeyGroup]:
    return [row(KeyGroup, data, f"{name}-keys.yaml") for data in read_rows(CHARTS / f"{name}-keys.yaml")]
