"""Files of Helm values: the keys that users write, their faults with line numbers, and the merge with the program's
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog.compat.needs import JOINED
from physical_ai.findings import Finding
from physical_ai.nested import is_mapping
from physical_ai.repository import INSTALLED, PARTS, installed_label, is_team_project
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.layers.paths import Path

_INSTALLED = {"values": INSTALLED / "values", "parts": PARTS}
"""The platform's folders with values files, by name."""


def read_values(root: FilePath, file: str) -> Document:
    """Document of a values file below `root`; an empty document if the file does not exist.

    In a team's project, the team's file is merged over the platform's file of the same name.
    """
    own = _read(root / file, f"{root.name}/{file}")
    installed = installed_folder(root)
    if installed is None:
        return own
    below = _read(installed / file, f"{installed_label()}/{root.name}/{file}")
    if not below.lines:
        return own
    if not own.lines:
        return below if not own.faults else own
    faults = [*below.faults, *own.faults]
    return Document(own.label, merge_values(below.data, own.data), own.lines, faults, below)


def installed_folder(root: FilePath) -> FilePath | None:
    """The platform's folder of values files or parts that a team's folder `root` overrides; None where `root` does not
    belong to a team's project.
    """
    return _INSTALLED.get(root.name) if is_team_project(root.parent) else None


def _read(file: FilePath, label: str) -> Document:
    return read_file(file, label) if file.exists() else Document(label)


def section(document: Document | None, key: str) -> dict[str, Any]:
    """The section `key` of a values file; empty if the file has no such section, or if the section is not a map."""
    found = document.data.get(key) if document is not None else None
    return dict(found) if is_map(found) else {}


def located(document: Document, finding: Finding, prefix: Path = ()) -> Fault:
    """Fault with the content of `finding`, at the file and line of the value that the finding is about.

    `prefix` is the path of the section from which the path `finding.where` starts.
    """
    path = (*prefix, *finding.where.split("."))
    found = document.fault(path, finding.problem, finding.fix, severity=finding.severity)
    return replace(found, rule=finding.rule, source=finding.source)


def merge_values(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Merge of `top` over `base`: maps are merged, lists of named entries are joined, everything else is replaced."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if is_mapping(below) and is_mapping(value):
            merged[key] = merge_values(below, value)
        elif key in JOINED and is_list(below) and is_list(value):
            merged[key] = [*below, *(each for each in value if each not in below)]
        else:
            merged[key] = value
    return merged


def identity(entry: Any) -> str | None:
    """Identity of an entry in its list: the entry's mount path or name; None for an entry without both."""
    found = (entry.get("mountPath") or entry.get("name")) if is_map(entry) else None
    return found if isinstance(found, str) else None
