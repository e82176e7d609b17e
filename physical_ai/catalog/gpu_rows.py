"""Rows of the GPU software stack: GPU Operator releases, drivers, node images, runtimes, MIG profiles, chart keys."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from physical_ai.catalog.rows import Row, Text

ReleaseName = Annotated[str, StringConstraints(pattern=r"^v\d+\.\d+\.\d+$")]
LineName = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")]
Minor = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")]
Build = Annotated[str, StringConstraints(pattern=r"^\d{3}\.\d{2,3}(\.\d{2})?$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
DriverKind = Literal["datacenter", "grid"]
ModuleFlavour = Literal["open", "proprietary"]


class Advisory(Row):
    """A security advisory on a release."""

    id: Text
    fixed: ReleaseName
    """The release that fixes it."""


class OperatorRelease(Row):
    """One release of the GPU Operator: its contents, and the versions that NVIDIA tested it with."""

    version: ReleaseName
    line: LineName
    line_released: datetime.date | None
    """Day of the line's first release; None where it is not known."""
    released: datetime.date | None
    kubernetes: tuple[Minor, Minor] | None
    """Oldest and newest minor supported; None where it is not known."""
    containerd: tuple[Minor, Minor] | None
    ubuntu: tuple[Minor, ...]
    """Ubuntu releases that driver images exist for."""
    drivers: tuple[Build, ...]
    """Driver builds that the release names, its default first."""
    driver_cr: Literal["preview", "new-installs", "supported"]
    """Level of support for drivers as NVIDIADriver resources."""
    toolkit: Text
    device_plugin: Text
    dcgm_exporter: Text
    cdi_by_default: bool
    nri: bool
    """True where the chart has `cdi.nriPluginEnabled`."""
    changes: tuple[Text, ...] = ()
    """Changes for a cluster that is upgraded from the previous line."""
    values_of: ReleaseName
    """The release whose chart was read for the values keys."""
    advisories: tuple[Advisory, ...] = ()
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date

    @property
    def default_driver(self) -> str:
        return self.drivers[0]

    @property
    def is_unread(self) -> bool:
        """True for a release of which only the existence is known: everything else is that of `values_of`."""
        return "drivers" in self.unverified


class DriverBuild(Row):
    """One build of a driver branch."""

    version: Build
    vgpu: str | None = None
    """The vGPU release a GRID build belongs to."""
    mig_bug: bool = False
    """True where GPU Pods remain Pending on nodes that mix MIG and full GPUs (NVIDIA/gpu-operator#1361)."""
    url: Annotated[str, StringConstraints(pattern=r"^https://[^\s/]+/\S*[^\s/]$")] | None = None
    """Microsoft's GRID installer; None where it is not known."""
    sha256: Sha256 = ""
    """Checksum of Microsoft's GRID installer; empty where it is not known."""
    sha256_source: str = ""
    """Source of the checksum."""


class DriverBranch(Row):
    """A branch of NVIDIA drivers, of one kind."""

    kind: DriverKind
    branch: Annotated[int, Field(ge=300, le=999)]
    designation: Literal["long-term", "production", "new-feature"]
    vgpu: str | None = None
    """The vGPU branch of GRID drivers."""
    end_of_life: datetime.date | None
    broken_kernels: tuple[Minor, ...] = ()
    """Series of the azure kernel that the modules do not build for."""
    builds: tuple[DriverBuild, ...]
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


class VgpuModel(Row):
    """A virtual GPU of Azure, as far as the guest's driver depends on it."""

    model: Text
    """Name of the model in the VM sizes."""
    host_vgpu: Annotated[int, Field(ge=1, le=99)]
    """vGPU branch of Azure's hosts."""
    modules: tuple[ModuleFlavour, ...]
    """Kernel modules that the guest can have, the recommended ones first."""
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


class NodeImage(Row):
    """An AKS node image, as far as drivers and the container runtime depend on it."""

    os: Literal["Ubuntu", "AzureLinux"]
    release: Minor
    containerd: str | None
    config_version: Annotated[int, Field(ge=1)]
    """Schema of the image's own containerd configuration."""
    kernel: Minor | None
    driver_images: bool
    """True where NVIDIA publishes driver images for the system."""
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date

    @property
    def name(self) -> str:
        return f"{self.os} {self.release}"


class RuntimeTrait(Row):
    """Facts about containerd, or the container toolkit, from a version on."""

    component: Literal["containerd", "toolkit"]
    since: Text
    dumps: int | None = None
    """Schema that `containerd config dump` prints."""
    drop_in: bool | None = None
    """True where the toolkit writes a drop-in file instead of editing containerd's own."""
    loses_imports: bool = False
    """True where the toolkit overwrites the `imports` of containerd's own file."""
    source: Text
    date: datetime.date


class MigProfile(Row):
    most: Annotated[int, Field(ge=1, le=7)]
    """Instances of this profile alone that fit one GPU."""
    memory: Annotated[int, Field(ge=1, le=8)]
    """Memory slices of 8 that an instance uses."""


class MigModel(Row):
    """The MIG profiles of one GPU model."""

    model: Text
    profiles: dict[str, MigProfile]
    source: Text
    date: datetime.date


class SectionKeys(Row):
    """Keys of one section of a chart's values, relative to the section."""

    values: tuple[Text, ...] = ()
    lists: tuple[Text, ...] = ()
    maps: tuple[Text, ...] = ()
    """Maps that are free below: nothing under them is a key of the chart."""


class KeyGroup(Row):
    """Values keys that the same releases of a chart have, read in the same place."""

    since: Text | None = None
    until: Text | None = None
    read: tuple[Text, ...] = ()
    """Versions of the chart at which keys of the file were read; at least one group of a file has some."""
    sections: dict[str, SectionKeys]
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    """Allowed values of a key, by its full path."""
    source: Text
    date: datetime.date


class Switches(Row):
    """Keys of a chart that take `true` or `false` alone."""

    chart: Text
    keys: tuple[Text, ...]
    source: Text
    date: datetime.date


class KeyNote(Row):
    """Keys that people write and the chart does not render, or renders under another name now."""

    paths: tuple[Text, ...]
    state: Literal["dead", "removed", "renamed", "driver-cr"]
    since: ReleaseName | None = None
    until: ReleaseName | None = None
    instead: str | None = None
    fix: str | None = None
    source: Text
    date: datetime.date
