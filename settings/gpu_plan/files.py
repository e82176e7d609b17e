"""Reads `values/gpu-operator/`: what people write about the GPU Operator beside the settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from catalog.compat import KeyFinding
from catalog.lookup import nearest
from settings.document import Document
from settings.faults import Fault
from settings.guards import is_list, is_map, is_mapping
from settings.model import Settings
from settings.names import STACKS, existing
from settings.overlay import read_file
from settings.paths import Path, show
from settings.stackfile import read_stack

VALUES = FilePath(__file__).resolve().parents[2] / "values"
"""Where the repository keeps Helm values."""
CHART = "gpu-operator"
"""Name of the chart, its release, and its folder of values."""
POOL_KEYS = ("driver", "devicePlugin")


@dataclass(frozen=True)
class ValuesFiles:
    """The files of one chart. Those that are not there are empty."""

    cluster: Document
    """`values.yaml`: values of the chart."""
    driver: Document
    """`nvidia-driver.yaml`: fields of every NVIDIADriver."""
    pools: Mapping[str, Document]
    """`pools/<pool>.yaml`, for pools of the stack that have one."""


def read_files(settings: Settings, root: FilePath) -> tuple[ValuesFiles, list[Fault]]:
    """The files of a stack, and what is wrong with them as files."""
    folder, label = root / CHART, f"{root.name}/{CHART}"
    cluster, driver = (_read(folder / name, f"{label}/{name}") for name in ("values.yaml", "nvidia-driver.yaml"))
    faults = [*cluster.faults, *driver.faults]
    pools: dict[str, Document] = {}
    for file in sorted((folder / "pools").glob("*")):
        name, here = file.stem, f"{label}/pools/{file.name}"
        if file.suffix != ".yaml":
            faults.append(Fault(here, "(file)", "This file is not read.", f"Call it {name}.yaml, or remove it."))
        elif name in settings.pools:
            pools[name] = _read(file, here)
            faults += [*pools[name].faults, *_known(pools[name])]
        else:
            faults += _pool_of_any_stack(name, here, settings)
    return ValuesFiles(cluster, driver, pools), faults


def _read(file: FilePath, label: str) -> Document:
    return read_file(file, label) if file.exists() else Document(label)


def _known(document: Document) -> Iterator[Fault]:
    for key, value in document.data.items():
        if key not in POOL_KEYS:
            near = nearest(key, POOL_KEYS)
            fix = f"Did you mean '{near}'?" if near else f"Known here: {', '.join(POOL_KEYS)}."
            yield fault(document, (key,), f"'{key}' is nothing that a pool can have of its own.", fix)
        elif value is not None and not is_map(value):
            yield fault(document, (key,), f"{key} is a section, not a value.")


def _pool_of_any_stack(name: str, label: str, settings: Settings) -> Iterator[Fault]:
    """Stacks share the files, so a file may be for another stack's pool; for nobody's it is a mistake."""
    known = {*settings.pools, *pool_names()}
    if name not in known:
        near = nearest(name, sorted(known))
        fix = f"Did you mean {near}.yaml?" if near else f"Pools: {', '.join(sorted(known))}."
        yield Fault(label, "(file)", f"No stack has a pool '{name}'.", fix)


def pool_names(root: FilePath = STACKS) -> set[str]:
    """Names of pools in any layer or stack file, whichever stack they are for."""
    layers = [read_file(file, file.name).data for file in sorted((root / "layers").rglob("*.yaml"))]
    layers += [dict(read_stack(stack, root)[0].data) for stack in existing(root)]
    return {name for data in layers if is_map(pools := data.get("pools")) for name in pools}


def section(document: Document | None, key: str) -> dict[str, Any]:
    """A section of a file; empty where there is none, or none worth the name."""
    found = document.data.get(key) if document is not None else None
    return dict(found) if is_map(found) else {}


def fault(document: Document, path: Path, problem: str, fix: str | None = None, *, warning: bool = False) -> Fault:
    """A fault at a place of a file, with its line."""
    line = next((document.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in document.lines), None)
    return Fault(document.label, show(path), problem, fix, warning=warning, line=line)


def told(document: Document, finding: KeyFinding, prefix: Path = ()) -> Fault:
    """A finding of the catalogue about values, as a fault in the file."""
    path = (*prefix, *finding.path.split("."))
    found = fault(document, path, finding.problem, finding.fix, warning=finding.severity != "error")
    return replace(found, rule=finding.rule, source=finding.source)


def lay(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`top` over `base`: maps are merged, lists of environment variables joined, all else replaced."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if is_mapping(below) and is_mapping(value):
            merged[key] = lay(below, value)
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
            yield fault(document, (*prefix, *steps), problem, f"Set {setting} instead.")


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


def own_env(document: Document, prefix: Path, entries: Any, ours: Sequence[str], setting: str) -> Iterator[Fault]:
    """Environment variables of a file that the program sets itself."""
    for index, entry in enumerate(entries if is_list(entries) else ()):
        if is_map(entry) and entry.get("name") in ours:
            problem = f"The program sets {entry['name']} itself."
            yield fault(document, (*prefix, index), problem, f"Set {setting} instead.")


def _has(data: Mapping[str, Any], steps: Sequence[str]) -> bool:
    here: Any = data
    for step in steps:
        if not is_mapping(here) or step not in here:
            return False
        here = here[step]
    return True
