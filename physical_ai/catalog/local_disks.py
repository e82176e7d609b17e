"""Local disks of a VM size, and what of an ephemeral OS disk they hold by the rule of AKS and Compute. Pure."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from physical_ai.catalog.row import Row, Text

Placement = Literal["CacheDisk", "ResourceDisk", "NvmeDisk"]
"""Places of an ephemeral OS disk, in the words of the SKU API."""
How = Literal["seen", "read", "believed"]
"""Evidence for a fact: an answer of Azure itself, the source named, or analogy."""
_Gib = Annotated[int, Field(ge=0)] | None

DEFAULT_GIB = 128
"""OS disk of a pool without a size. From this much temp disk on, AKS takes all of it (AKS docs, concepts-storage)."""
MOST_GIB = 2048
"""Largest OS disk that AKS takes."""
GUEST_STATE_GIB = 1
"""Space in GiB that Trusted Launch reserves on the disk for its guest state (VM docs, ephemeral-os-disks, 2026-09-08).
"""


class LocalDisks(Row):
    """Local disks of a size on its host, in GiB: 0 for no disk, None for an unknown size."""

    temp: _Gib
    """The resource disk: `MaxResourceVolumeMB`."""
    cache: _Gib
    """`CachedDiskBytes`."""
    nvme: _Gib
    """All NVMe devices: `NvmeDiskSizeInMiB`."""
    devices: Annotated[int, Field(ge=1)] | None = None
    """Number of NVMe devices, where a source says it."""
    placements: tuple[Placement, ...]
    """`SupportedEphemeralOSDiskPlacements`; empty where the size takes no ephemeral OS disk."""
    how: How
    believed: tuple[Literal["temp", "cache", "nvme", "placements"], ...] = ()
    """Fields that are known less well than `how` says."""
    source: Text
    date: datetime.date

    @model_validator(mode="after")
    def _places_exist(self) -> LocalDisks:
        if empty := [place for place in self.placements if self.gib(place) == 0 and place != "CacheDisk"]:
            raise ValueError(f"an OS disk can't be placed on a {empty[0]} that the size does not have")
        return self

    def gib(self, placement: Placement) -> int | None:
        """Size of the disk that a placement uses; None where it is not known."""
        return {"CacheDisk": self.cache, "ResourceDisk": self.temp, "NvmeDisk": self.nvme}[placement]

    @property
    def on_nvme(self) -> bool:
        """True where an ephemeral OS disk would take NVMe devices, of which the rest is lost."""
        return self.placements == ("NvmeDisk",)

    @property
    def known_gib(self) -> int:
        """The largest OS disk of which it is known that one of the placements holds it."""
        return min(max((self.gib(place) or 0 for place in self.placements), default=0), MOST_GIB)

    @property
    def unknown(self) -> tuple[Placement, ...]:
        """Placements of a size that is not known."""
        return tuple(place for place in self.placements if self.gib(place) is None)

    @property
    def default_gib(self) -> int:
        """The ephemeral OS disk of a pool that names no size."""
        whole = self.nvme if self.on_nvme else self.temp
        if self.on_nvme and whole and self.devices:
            whole //= self.devices
        return min(whole, MOST_GIB) if whole and whole >= DEFAULT_GIB else DEFAULT_GIB


@dataclass(frozen=True)
class Fit:
    """The answer to the question if an ephemeral OS disk of some size fits a VM size."""

    answer: Literal["yes", "no", "unknown"]
    most_gib: int
    """The largest that is known to fit."""


def fit(disks: LocalDisks, wanted_gib: int, *, trusted_launch: bool = False) -> Fit:
    """The answer for a disk and the placements of a size. AKS uses the placement that the disk fits, the cache where it
    fits two (Azure/AKS#2672), and refuses a disk that fits none.

    Args:
        trusted_launch: with Secure Boot or a vTPM, for whose state Azure reserves a part of the same disk.
    """
    most = max(disks.known_gib - (GUEST_STATE_GIB if trusted_launch and disks.known_gib < MOST_GIB else 0), 0)
    if wanted_gib <= most:
        return Fit("yes", most)
    return Fit("unknown" if disks.unknown else "no", most)


def described(disks: LocalDisks) -> str:
    """The kinds of disk for a person: `128 GiB temp disk (believed), a cache of unknown size, 3576 GiB NVMe`."""
    kinds = (("temp disk", "temp", disks.temp), ("cache", "cache", disks.cache), ("NVMe", "nvme", disks.nvme))
    parts = [_part(kind, gib, name in disks.believed or disks.how == "believed") for kind, name, gib in kinds]
    return ", ".join(part for part in parts if part) or "no local disk"


def _part(kind: str, gib: int | None, believed: bool) -> str:
    if gib is None:
        return f"{kind} of unknown size"
    return f"{gib} GiB {kind}{' (believed)' * believed}" if gib else ""
