"""Faults of names in the folders of optional parts: files and constants that nothing reads, and charts or namespaces
that do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from parts.part import Part
from physical_ai.catalog import chart_images, charts
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.lookup import nearest
from physical_ai.catalog.reading import read_rows
from physical_ai.planning import manifests
from physical_ai.repository import part_folder
from physical_ai.settings.faults import Fault, fault

OF_CHARTS = (chart_images.FILE, "definitions.yaml", "needs.yaml", "switches.yaml")
"""Names of files in any part's folder whose rows name charts."""
READ = (
    *OF_CHARTS,
    charts.PINS,
    manifests.NAMESPACES,
    manifests.ISOLATION,
    "alerts.yaml",
    "causes.yaml",
    "workload_causes.yaml",
)
"""Names of the files that the program reads in every part's folder."""
SUFFIXES = ("keys", "notes", "values")
"""Last words of the names of files about one chart, such as `fluent-bit-keys.yaml`."""
_CONSTANTS = {"COMPONENT": "component.py", "PART": "part.py", "SETTINGS": "model.py"}
"""Module of a part that must contain each constant, by the constant's name."""
_ASSIGNED = re.compile(rf"^({'|'.join(_CONSTANTS)})\b[^=\n]*=", re.MULTILINE)


def unread_names(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults of files in a part's folder that no module reads, and of constants defined in the wrong module."""
    for part in parts:
        folder = part_folder(part.name)
        modules = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
        text = "\n".join(modules.values())
        known = [*READ, *(f"{chart}-{suffix}.yaml" for chart in part.charts for suffix in SUFFIXES)]
        for path in sorted(each for each in folder.iterdir() if each.is_file() and each.suffix not in (".py", ".md")):
            if path.name not in known and path.name not in text:
                fix = _near(path.name, [each for each in known if not (folder / each).exists()]) or (
                    f"Name it in a module that reads it, or remove it. Read are: {', '.join(known)}."
                )
                yield fault(_label(path), "(name)", "No module reads a file of this name.", fix)
        for path, source in modules.items():
            for constant in _ASSIGNED.findall(source):
                if path.name != _CONSTANTS[constant]:
                    problem = f"The constant is read in {_CONSTANTS[constant]} alone."
                    yield fault(_label(path), constant, problem, f"Name the module {_CONSTANTS[constant]}.")


def unknown_names(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults of rows about charts and versions that are not pinned, and of network policies in namespaces that do not
    exist.
    """
    pinned = {name for name, _ in pinned_charts()}
    spaces = {str(each["metadata"]["name"]) for each in manifests.namespaces()}
    for part in parts:
        for file in OF_CHARTS:
            path = part_folder(part.name) / file
            for name in (each for row in _rows(path) for each in _charts_of(row) if each not in pinned):
                fix = _near(name, pinned) or f"One of: {', '.join(sorted(pinned))}."
                yield fault(_label(path), name, "The row is about a chart that is not pinned.", fix)
        yield from _unknown_versions(part_folder(part.name) / charts.PINS)
        path = part_folder(part.name) / manifests.ISOLATION
        for policy in manifests.load_of(part.name, manifests.ISOLATION) if path.exists() else ():
            name = str(policy["metadata"]["namespace"])
            if name not in spaces:
                where = f"{policy['metadata']['name']}: metadata.namespace"
                fix = _near(name, spaces) or f"One of: {', '.join(sorted(spaces))}."
                yield fault(_label(path), where, f"There is no namespace '{name}'.", fix)


def _unknown_versions(path: Path) -> Iterator[Fault]:
    """Faults of comparisons with the original chart at versions that the same file does not pin."""
    for row in _rows(path):
        pins = [str(each["version"]) for each in row.get("versions", ())]
        compared = (str(version) for each in row.get("compared", ()) for version in each.get("versions", ()))
        for version in (each for each in compared if each not in pins):
            fix = _near(version, pins) or f"One of: {', '.join(pins)}."
            yield fault(_label(path), f"{row['name']}: compared", f"Version {version} is not pinned.", fix)


def _rows(path: Path) -> list[dict[str, Any]]:
    return read_rows(path) if path.exists() else []


def _charts_of(row: dict[str, Any]) -> Iterable[str]:
    return row["charts"] if "charts" in row else (row["chart"],)


def _near(name: str, known: Iterable[str]) -> str:
    found = nearest(name, known)
    return f"Did you mean '{found}'?" if found else ""


def _label(path: Path) -> str:
    return f"parts/{path.parent.name}/{path.name}"
