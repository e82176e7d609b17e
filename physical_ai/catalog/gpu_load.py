"""Reading of the data files on the GPU software stack. Each file is read once for each process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from physical_ai.catalog.gpu_rows import (
    DriverBranch,
    DriverKind,
    KeyGroup,
    KeyNote,
    MigModel,
    NodeImage,
    OperatorRelease,
    RuntimeTrait,
    VgpuModel,
)
from physical_ai.catalog.load import DATA, CatalogError, read_rows, row

GPU = DATA / "gpu"
CHARTS = DATA / "charts"
Keyed = TypeVar("Keyed", KeyGroup, KeyNote)


@lru_cache(maxsize=1)
def operator_releases() -> dict[str, OperatorRelease]:
    """GPU Operator releases by version (`v26.7.0`), oldest first."""
    found: dict[str, OperatorRelease] = {}
    for line in read_rows(GPU / "operator_releases.yaml"):
        shared = {key: value for key, value in line.items() if key != "releases"}
        for own in line["releases"]:
            where = f"operator_releases.yaml: {own.get('version')}"
            release = row(OperatorRelease, {**shared, **own}, where)
            if release.version in found or not release.version.startswith(f"v{release.line}."):
                raise CatalogError(f"{where} is a duplicate, or under the wrong line")
            found[release.version] = release
    named = {release.values_of for release in found.values()}
    named |= {advisory.fixed for release in found.values() for advisory in release.advisories}
    if strange := named - found.keys():
        raise CatalogError(f"operator_releases.yaml: unknown releases are named: {', '.join(sorted(strange))}")
    return found


@lru_cache(maxsize=1)
def driver_branches() -> dict[tuple[DriverKind, int], DriverBranch]:
    """Driver branches by kind and number, each kind oldest first."""
    found: dict[tuple[DriverKind, int], DriverBranch] = {}
    for data in read_rows(GPU / "drivers.yaml"):
        where = f"drivers.yaml: {data.get('kind')} {data.get('branch')}"
        branch = row(DriverBranch, data, where)
        if (branch.kind, branch.branch) in found:
            raise CatalogError(f"{where} is a duplicate")
        if any(not build.version.startswith(f"{branch.branch}.") for build in branch.builds):
            raise CatalogError(f"{where} has a build of another branch")
        if any(bool(build.sha256) != bool(build.sha256_source) for build in branch.builds):
            raise CatalogError(f"{where}: a checksum needs its source, and nothing else does")
        found[branch.kind, branch.branch] = branch
    return found


@lru_cache(maxsize=1)
def node_images() -> dict[str, NodeImage]:
    """AKS node images by name, such as `Ubuntu 24.04`."""
    rows = [row(NodeImage, data, f"node_images.yaml: {data.get('os')}") for data in read_rows(GPU / "node_images.yaml")]
    return {image.name: image for image in rows}


@lru_cache(maxsize=1)
def runtime_traits() -> tuple[RuntimeTrait, ...]:
    """Traits of containerd and of the container toolkit, in the order of the data file."""
    rows = read_rows(GPU / "runtimes.yaml")
    return tuple(
        row(RuntimeTrait, data, f"runtimes.yaml: {data.get('component')} {data.get('since')}") for data in rows
    )


@lru_cache(maxsize=1)
def mig_models() -> dict[str, MigModel]:
    """MIG profiles by GPU model, named as in the VM sizes (`H100 NVL`)."""
    rows = read_rows(GPU / "mig_profiles.yaml")
    return {model.model: model for model in (row(MigModel, data, f"mig_profiles.yaml: {data}") for data in rows)}


@lru_cache(maxsize=1)
def vgpu_models() -> dict[str, VgpuModel]:
    """Virtual GPUs by model, named as in the VM sizes."""
    rows = read_rows(GPU / "vgpu_models.yaml")
    return {model.model: model for model in (row(VgpuModel, data, f"vgpu_models.yaml: {data}") for data in rows)}


@lru_cache(maxsize=1)
def chart_key_groups() -> tuple[KeyGroup, ...]:
    """Groups of keys of the GPU Operator chart's values."""
    rows = read_rows(CHARTS / "gpu-operator-keys.yaml")
    return _of_known_releases([row(KeyGroup, data, f"gpu-operator-keys.yaml: {data.get('source')}") for data in rows])


@lru_cache(maxsize=1)
def driver_field_groups() -> tuple[KeyGroup, ...]:
    """Groups of fields of an NVIDIADriver's spec."""
    rows = read_rows(CHARTS / "nvidia-driver-fields.yaml")
    return _of_known_releases(
        [row(KeyGroup, data, f"nvidia-driver-fields.yaml: {data.get('source')}") for data in rows]
    )


@lru_cache(maxsize=1)
def chart_key_notes() -> tuple[KeyNote, ...]:
    """Notes on keys of the GPU Operator chart that have no effect, were removed, or were renamed."""
    rows = read_rows(CHARTS / "gpu-operator-notes.yaml")
    return _of_known_releases([row(KeyNote, data, f"gpu-operator-notes.yaml: {data.get('paths')}") for data in rows])


def _of_known_releases(rows: Sequence[Keyed]) -> tuple[Keyed, ...]:
    named = {name for item in rows for name in (item.since, item.until) if name}
    if strange := named - operator_releases().keys():
        raise CatalogError(f"charts: since or until names unknown releases: {', '.join(sorted(strange))}")
    return tuple(rows)
