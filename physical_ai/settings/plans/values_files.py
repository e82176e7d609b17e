"""Files of Helm values: what people write, its faults with their lines, and what the program lays over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from physical_ai.findings import Finding
from physical_ai.nested import is_mapping
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.layers.paths import Path


def read_if_exists(file: FilePath, label: str) -> Document:
    """A file of values; an empty one where there is none."""
    return read_file(file, label) if file.exists() else Document(label)


def section(document: Document | None, key: str) -> dict[str, Any]:
    """A section of a file; empty where there is none, or none worth the name."""
    found = document.data.get(key) if document is not None else None
    return dict(found) if is_map(found) else {}


def located(document: Document, finding: Finding, prefix: Path = ()) -> Fault:
    """A finding of the catalogue about values, as a fault in the file."""
    path = (*prefix, *finding.where.split("."))
    found = document.fault(path, finding.problem, finding.fix, severity=finding.severity)
    return replace(found, rule=finding.rule, source=finding.source)


def merge_values(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`top` over `base`: maps are merged, lists of environment variables joined, all else replaced."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if is_mapping(below) and is_mapping(value):
            merged[key] = merge_values(below, value)
        elif key == "env" and is_list(below) and is_list(value):
            merged[key] = [*below, *value]
        else:
            merged[key] = value
    return merged


def owned(document: Document, prefix: Path, data: Mapping[str, Any], owners: Mapping[str, str]) -> Iterator[Fault]:
    """Keys of a file that follow from settings, by dotted path with the setting to change instead."""
    for path, setting in owners.items():
        steps = path.split(".")
        if _has(data, steps):
            problem = f"The program sets {path} itself, from the stack's settings."
            yield document.fault((*prefix, *steps), problem, f"Set {setting} instead.")


def without(data: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The data without some keys, by dotted path."""
    kept = dict(data)
    for path in paths:
        key, _, rest = path.partition(".")
        inner = kept.get(key)
        if not rest:
            kept.pop(key, None)
        elif is_mapping(inner):
            kept[key] = without(inner, [rest])
    return kept


def owned_env(document: Document, prefix: Path, entries: Any, ours: Sequence[str], setting: str) -> Iterator[Fault]:
    """Environment variables of a file that the program sets itself."""
    for index, entry in enumerate(entries if is_list(entries) else ()):
        if is_map(entry) and entry.get("name") in ours:
            problem = f"The program sets {entry['name']} itself."
            yield document.fault((*prefix, index), problem, f"Set {setting} instead.")


def _has(data: Mapping[str, Any], steps: Sequence[str]) -> bool:
    here: Any = data
    for step in steps:
        if not is_mapping(here) or step not in here:
            return False
        here = here[step]
    return True
