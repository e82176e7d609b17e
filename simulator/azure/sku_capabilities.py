"""Disks of a VM size as Azure's SKU API reports them, and the placement of an ephemeral OS disk by AKS.

The table is the simulator's own, each entry with its source. The deployed program uses the catalogue instead, so the
simulator refuses a deployment that relies on a mistake in the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from simulator.azure.data import load_json

MOST_GIB = 2048
"""Largest OS disk in GiB that AKS accepts (agent pool schema, osDiskSizeGB)."""
LEAST_DEFAULT_GIB = 128
"""Minimum size in GiB of a local disk for an ephemeral OS disk without a requested size. AKS gives such an OS disk the
whole local disk (AKS docs, concepts-storage).
"""
_GIB = 2**30


@cache
def capabilities() -> Mapping[str, Mapping[str, str]]:
    """The capabilities of each VM size that the simulator knows."""
    rows: dict[str, dict[str, Any]] = load_json("sku_capabilities.json")
    return {name: row["capabilities"] for name, row in rows.items()}


def supports_ephemeral(found: Mapping[str, str]) -> bool:
    return found.get("EphemeralOSDiskSupported") == "True"


def cache_bytes(found: Mapping[str, str]) -> int:
    return int(found.get("CachedDiskBytes", 0)) if "CacheDisk" in _placements(found) else 0


def local_bytes(found: Mapping[str, str]) -> int:
    """Size in bytes of the local disk that may hold the OS disk: the NVMe disk if Compute lists this placement,
    otherwise the temp disk.
    """
    if "NvmeDisk" in _placements(found):
        return int(found.get("NvmeDiskSizeInMiB", 0)) << 20
    return int(found.get("MaxResourceVolumeMB", 0)) << 20 if "ResourceDisk" in _placements(found) else 0


def room_gib(found: Mapping[str, str], *, trusted_launch: bool) -> int:
    """Size in GiB of the largest possible ephemeral OS disk.

    That is the larger of the cache and the local disk, less what Trusted Launch reserves (VM docs, ephemeral-os-disks:
    1 GiB).
    """
    room = max(cache_bytes(found), local_bytes(found)) // _GIB - (1 if trusted_launch else 0)
    return min(max(room, 0), MOST_GIB)


def default_gib(found: Mapping[str, str]) -> int:
    """Default size in GiB of an ephemeral OS disk.

    With several NVMe devices the disk is on one of them (AKS docs, best-practices-storage-nvme).
    """
    whole = local_bytes(found)
    if "NvmeDisk" in _placements(found) and "NvmeSizePerDiskInMiB" in found:
        whole = int(found["NvmeSizePerDiskInMiB"]) << 20
    return min(whole // _GIB, MOST_GIB) if whole >= LEAST_DEFAULT_GIB * _GIB else LEAST_DEFAULT_GIB


def is_default(found: Mapping[str, str], gib: int) -> bool:
    """True if the OS disk is ephemeral in a pool that sets no OS disk type. `gib`: requested size of the OS disk; 0 if
    not set.
    """
    return supports_ephemeral(found) and 0 < (gib or LEAST_DEFAULT_GIB) <= room_gib(found, trusted_launch=False)


def _placements(found: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(found.get("SupportedEphemeralOSDiskPlacements", "").split(","))
