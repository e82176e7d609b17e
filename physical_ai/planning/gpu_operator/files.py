"""Reading of `values/gpu-operator/`: what users write about the GPU Operator beside the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from physical_ai.catalog.lookup import nearest
from physical_ai.planning.values_files import installed_folder, read_values
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.names import STACKS, existing, layer_folders
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.layers.stack_file import read_stack
from physical_ai.settings.models.tree import Settings

CHART = "gpu-operator"
"""Name of the chart, of its release, and of its folder of values."""
POOL_KEYS = ("driver", "devicePlugin")


@dataclass(frozen=True)
class ValuesFiles:
    """Values files for the GPU Operator. Missing files are empty documents."""

    cluster: Document
    """File `values.yaml`: values of the chart."""
    driver: Document
    """File `nvidia-driver.yaml`: fields of every NVIDIADriver."""
    pools: Mapping[str, Document]
    """Files `pools/<pool>.yaml` that exist, by pool, for pools of the stack."""


def read_files(settings: Settings, root: FilePath) -> tuple[ValuesFiles, list[Fault]]:
    """Values files of a stack, and the faults of their syntax and names."""
    cluster, driver = (read_values(root, f"{CHART}/{name}") for name in ("values.yaml", "nvidia-driver.yaml"))
    faults = [*cluster.faults, *driver.faults]
    pools: dict[str, Document] = {}
    for file in _pool_files(root):
        name, here = FilePath(file).stem, f"{root.name}/{file}"
        if FilePath(file).suffix != ".yaml":
            faults.append(fault(here, "(file)", "This file is not read.", f"Rename it to {name}.yaml, or remove it."))
        elif name in settings.pools:
            pools[name] = read_values(root, file)
            faults += [*pools[name].faults, *_known(pools[name])]
        else:
            faults += _pool_of_any_stack(name, here, settings)
    return ValuesFiles(cluster, driver, pools), faults


def _pool_files(root: FilePath) -> list[str]:
    """Paths of the values files for single pools, relative to `root`."""
    folders = [folder for folder in (installed_folder(root), root) if folder is not None]
    found = {file.name for folder in folders for file in (folder / CHART / "pools").glob("*")}
    return [f"{CHART}/pools/{name}" for name in sorted(found)]


def _known(document: Document) -> Iterator[Fault]:
    for key, value in document.data.items():
        if key not in POOL_KEYS:
            near = nearest(key, POOL_KEYS)
            fix = f"Did you mean '{near}'?" if near else f"Known here: {', '.join(POOL_KEYS)}."
            yield document.fault((key,), f"'{key}' cannot be set for a single pool.", fix)
        elif value is not None and not is_map(value):
            yield document.fault((key,), f"{key} is a section, not a value.")


def _pool_of_any_stack(name: str, label: str, settings: Settings) -> Iterator[Fault]:
    """Fault of a values file for a pool that exists in no stack. A pool of another stack is no fault, because all
    stacks share the files.
    """
    known = {*settings.pools, *pool_names()}
    if name not in known:
        near = nearest(name, sorted(known))
        fix = f"Did you mean {near}.yaml?" if near else f"Pools: {', '.join(sorted(known))}."
        yield fault(label, "(file)", f"No stack has a pool '{name}'.", fix)


def pool_names(root: FilePath = STACKS) -> set[str]:
    """Names of the pools in all layers and stack files."""
    folders = layer_folders(root).values()
    layers = [read_file(file, file.name).data for folder in folders for file in sorted(folder.rglob("*.yaml"))]
    layers += [dict(read_stack(stack, root)[0].data) for stack in existing(root)]
    return {name for data in layers if is_map(pools := data.get("pools")) for name in pools}
