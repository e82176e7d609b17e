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
    """The release that fixes the advisory's vulnerability."""


class OperatorRelease(Row):
    """A release of the GPU Operator: its contents, and the versions that NVIDIA tested it with."""

    version: ReleaseName
    line: LineName
    line_released: datetime.date | None
    """Day of the line's first release; None where it is not known."""
    released: datetime.date | None
    kubernetes: tuple[Minor, Minor] | None
    """Oldest and newest supported Kubernetes minor; None where they are not known."""
    containerd: tuple[Minor, Minor] | None
    ubuntu: tuple[Minor, ...]
    """Ubuntu releases for which the GPU Operator release has driver images."""
    drivers: tuple[Build, ...]
    """Driver builds that the release lists, its default first."""
    driver_cr: Literal["preview", "new-installs", "supported"]
    """NVIDIA's support level for drivers that are declared by NVIDIADriver resources."""
    toolkit: Text
    device_plugin: Text
    dcgm_exporter: Text
    cdi_by_default: bool
    nri: bool
    """True where the chart has `cdi.nriPluginEnabled`."""
    changes: tuple[Text, ...] = ()
    """Changes that affect a cluster which is upgraded from the previous line."""
    values_of: ReleaseName
    """GPU Operator release whose recorded chart keys are used for this release: itself, or a similar release."""
    advisories: tuple[Advisory, ...] = ()
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date

    @property
    def default_driver(self) -> str:
        return self.drivers[0]

    @property
    def is_unread(self) -> bool:
        """True for a release of which only the existence is known: its other facts are copied from the release
        `values_of`.
        """
        return "drivers" in self.unverified


class DriverBuild(Row):
    """One build of a driver branch."""

    version: Build
    vgpu: str | None = None
    """vGPU release that a GRID build belongs to; None for other builds."""
    mig_bug: bool = False
    """True where GPU Pods remain Pending on nodes that mix MIG and full GPUs (NVIDIA/gpu-operator#1361)."""
    url: Annotated[str, StringConstraints(pattern=r"^https://[^\s/]+/\S*[^\s/]$")] | None = None
    """Address of Microsoft's GRID installer; None where it is not known."""
    sha256: Sha256 = ""
    """Checksum of Microsoft's GRID installer; empty where it is not known."""
    sha256_source: str = ""
    """Source of the checksum."""


class DriverBranch(Row):
    """A branch of NVIDIA drivers of one kind."""

    kind: DriverKind
    branch: Annotated[int, Field(ge=300, le=999)]
    designation: Literal["long-term", "production", "new-feature"]
    vgpu: str | None = None
    """vGPU branch of a GRID driver branch; None for a driver branch of another kind."""
    end_of_life: datetime.date | None
    broken_kernels: tuple[Minor, ...] = ()
    """Series of the azure kernel for which the branch's modules do not build."""
    builds: tuple[DriverBuild, ...]
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


class VgpuModel(Row):
    """A virtual GPU of Azure: the facts on which the guest's driver depends."""

    model: Text
    """Name of the GPU model, as in the VM sizes."""
    host_vgpu: Annotated[int, Field(ge=1, le=99)]
    """vGPU branch of the driver on Azure's hosts."""
    modules: tuple[ModuleFlavour, ...]
    """Kernel modules that the guest can have, the recommended ones first."""
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


class NodeImage(Row):
    """An AKS node image: the facts on which drivers and the container runtime depend."""

    os: Literal["Ubuntu", "AzureLinux"]
    release: Minor
    containerd: str | None
    config_version: Annotated[int, Field(ge=1)]
    """Schema version of the image's containerd configuration."""
    kernel: Minor | None
    driver_images: bool
    """True where NVIDIA publishes driver images for this operating system."""
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date

    @property
    def name(self) -> str:
        return f"{self.os} {self.release}"


class RuntimeTrait(Row):
    """Facts about containerd or the container toolkit that are true from a version on."""

    component: Literal["containerd", "toolkit"]
    since: Text
    dumps: int | None = None
    """Schema version that `containerd config dump` prints."""
    drop_in: bool | None = None
    """True where the toolkit writes a drop-in file instead of editing containerd's own configuration file."""
    loses_imports: bool = False
    """True if the toolkit overwrites the list `imports` in containerd's own configuration file."""
    source: Text
    date: datetime.date


class MigProfile(Row):
    most: Annotated[int, Field(ge=1, le=7)]
    """Largest number of instances of this profile that fit one GPU without other instances."""
    memory: Annotated[int, Field(ge=1, le=8)]
    """Number of memory slices that an instance uses; a GPU has 8."""


class MigModel(Row):
    """The MIG profiles of one GPU model."""

    model: Text
    profiles: dict[str, MigProfile]
    source: Text
    date: datetime.date


class SectionKeys(Row):
    """Keys in one section of a chart's values, relative to the section."""

    values: tuple[Text, ...] = ()
    lists: tuple[Text, ...] = ()
    maps: tuple[Text, ...] = ()
    """Keys of maps with arbitrary content, whose entries are not keys of the chart."""


class KeyGroup(Row):
    """Keys of a chart's values that exist in the same releases of the chart, and were read from the same source."""

    since: Text | None = None
    until: Text | None = None
    read: tuple[Text, ...] = ()
    """Chart versions at which the keys were read. At least one group of each file has versions here."""
    sections: dict[str, SectionKeys]
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    """Allowed values of keys, by full path."""
    source: Text
    date: datetime.date


class Switches(Row):
    """Keys of a chart that accept only `true` or `false`."""

    chart: Text
    keys: tuple[Text, ...]
    source: Text
    date: datetime.date


class KeyNote(Row):
    """Note on keys that people write although the chart does not render them, or renders them under another name."""

    paths: tuple[Text, ...]
    state: Literal["dead", "removed", "renamed", "driver-cr"]
    since: ReleaseName | None = None
    until: ReleaseName | None = None
    instead: str | None = None
    fix: str | None = None
    source: Text
    date: datetime.date
