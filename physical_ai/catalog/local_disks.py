"""Local disks of a VM size, and the ephemeral OS disk that they can hold by the rules of AKS and Compute.

Pure functions.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from physical_ai.catalog.row import Row, Text

Placement = Literal["CacheDisk", "ResourceDisk", "NvmeDisk"]
"""Disks on which an ephemeral OS disk can be placed, as the SKU API names them."""
How = Literal["seen", "read", "believed"]
"""Evidence for a fact. `seen`: Azure itself answered so. `read`: the named source says so. `believed`: inferred from
similar sizes.
"""
_Gib = Annotated[int, Field(ge=0)] | None

DEFAULT_GIB = 128
"""Size in GiB of the OS disk of a pool that sets no size. If the temp disk has at least this size, AKS uses all of the
temp disk (AKS docs, concepts-storage).
"""
MOST_GIB = 2048
"""Size in GiB of the largest OS disk that AKS accepts."""
GUEST_STATE_GIB = 1
"""Size in GiB that Trusted Launch reserves on the disk for the guest state (VM docs, ephemeral-os-disks,
2026-09-08).
"""


class LocalDisks(Row):
    """Local disks of a VM size on its host, in GiB: 0 for no disk, None for an unknown size."""

    temp: _Gib
    """Size of the resource disk: `MaxResourceVolumeMB` of the SKU API."""
    cache: _Gib
    """Size of the cache: `CachedDiskBytes` of the SKU API."""
    nvme: _Gib
    """Size of all NVMe devices together: `NvmeDiskSizeInMiB` of the SKU API."""
    devices: Annotated[int, Field(ge=1)] | None = None
    """Number of NVMe devices; None if no source gives it."""
    placements: tuple[Placement, ...]
    """Value of the SKU capability `SupportedEphemeralOSDiskPlacements`; empty if the VM size supports no ephemeral OS
    disk.
    """
    how: How
    believed: tuple[Literal["temp", "cache", "nvme", "placements"], ...] = ()
    """Fields of this row whose evidence is only `believed`, whatever `how` says about the row."""
    source: Text
    date: datetime.date

    @model_validator(mode="after")
    def _places_exist(self) -> LocalDisks:
        if empty := [place for place in self.placements if self.gib(place) == 0 and place != "CacheDisk"]:
            raise ValueError(f"an OS disk can't be placed on a {empty[0]} that the size does not have")
        return self

    def gib(self, placement: Placement) -> int | None:
        """Size in GiB of the disk that a placement uses; None if it is not known."""
        return {"CacheDisk": self.cache, "ResourceDisk": self.temp, "NvmeDisk": self.nvme}[placement]

    @property
    def on_nvme(self) -> bool:
        """True where an ephemeral OS disk would occupy NVMe devices, whose remaining space is then lost."""
        return self.placements == ("NvmeDisk",)

    @property
    def known_gib(self) -> int:
        """Size in GiB of the largest OS disk that is known to fit one of the placements."""
        return min(max((self.gib(place) or 0 for place in self.placements), default=0), MOST_GIB)

    @property
    def unknown(self) -> tuple[Placement, ...]:
        """Values of `placements` for which the size of the disk is not known."""
        return tuple(place for place in self.placements if self.gib(place) is None)

    @property
    def default_gib(self) -> int:
        """Size in GiB of the ephemeral OS disk of a pool that sets no size."""
        whole = self.nvme if self.on_nvme else self.temp
        if self.on_nvme and whole and self.devices:
            whole //= self.devices
        return min(whole, MOST_GIB) if whole and whole >= DEFAULT_GIB else DEFAULT_GIB


@dataclass(frozen=True)
class Fit:
    """Result of the check whether an ephemeral OS disk fits a VM size."""

    answer: Literal["yes", "no", "unknown"]
    most_gib: int
    """Size in GiB of the largest disk that is known to fit."""


def fit(disks: LocalDisks, wanted_gib: int, *, trusted_launch: bool = False) -> Fit:
    """Result of the check whether an ephemeral OS disk of `wanted_gib` GiB fits one of a VM size's local disks.

    AKS places the OS disk on a local disk that is large enough, and prefers the cache (Azure/AKS#2672). It refuses the
    OS disk if no local disk is large enough.

    Args:
        trusted_launch: True if Secure Boot or a vTPM is on; Azure then reserves a part of the same disk for their
            state.
    """
    most = max(disks.known_gib - (GUEST_STATE_GIB if trusted_launch and disks.known_gib < MOST_GIB else 0), 0)
    if wanted_gib <= most:
        return Fit("yes", most)
    return Fit("unknown" if disks.unknown else "no", most)


def described(disks: LocalDisks) -> str:
    """Kinds of local disk as text: `128 GiB temp disk (believed), a cache of unknown size, 3576 GiB NVMe`."""
    kinds = (("temp disk", "temp", disks.temp), ("cache", "cache", disks.cache), ("NVMe", "nvme", disks.nvme))
    parts = [_part(kind, gib, name in disks.believed or disks.how == "believed") for kind, name, gib in kinds]
    return ", ".join(part for part in parts if part) or "no local disk"


def _part(kind: str, gib: int | None, believed: bool) -> str:
    if gib is None:
        return f"{kind} of unknown size"
    return f"{gib} GiB {kind}{' (believed)' * believed}" if gib else ""
