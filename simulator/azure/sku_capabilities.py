"""Disks of a VM size as Azure's SKU API reports them, and where AKS places an ephemeral OS disk.

The rows are the stand-in's own, each with its source: what the program believes is in the catalogue, and a mistake
there has to meet an Azure that knows better.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from simulator.azure.data import load_json

MOST_GIB = 2048
"""The largest OS disk that AKS takes (agent pool schema, osDiskSizeGB)."""
LEAST_DEFAULT_GIB = 128
"""An OS disk without a size; AKS takes all of a local disk that is at least this large (AKS docs, concepts-storage)."""
_GIB = 2**30


@cache
def capabilities() -> Mapping[str, Mapping[str, str]]:
    """The capabilities of each size that the stand-in has a row for."""
    rows: dict[str, dict[str, Any]] = load_json("sku_capabilities.json")
    return {name: row["capabilities"] for name, row in rows.items()}


def supports_ephemeral(found: Mapping[str, str]) -> bool:
    return found.get("EphemeralOSDiskSupported") == "True"


def cache_bytes(found: Mapping[str, str]) -> int:
    return int(found.get("CachedDiskBytes", 0)) if "CacheDisk" in _placements(found) else 0


def local_bytes(found: Mapping[str, str]) -> int:
    """The disk beside the cache that may hold the OS disk: the temp disk, or NVMe where Compute has that placement."""
    if "NvmeDisk" in _placements(found):
        return int(found.get("NvmeDiskSizeInMiB", 0)) << 20
    return int(found.get("MaxResourceVolumeMB", 0)) << 20 if "ResourceDisk" in _placements(found) else 0


def room_gib(found: Mapping[str, str], *, trusted_launch: bool) -> int:
    """The largest ephemeral OS disk: in the cache or on the local disk, whichever is larger, less what Trusted Launch
    reserves (VM docs, ephemeral-os-disks: 1 GiB)."""
    room = max(cache_bytes(found), local_bytes(found)) // _GIB - (1 if trusted_launch else 0)
    return min(max(room, 0), MOST_GIB)


def default_gib(found: Mapping[str, str]) -> int:
    """OS disk of an ephemeral pool that names no size. Of several NVMe devices it is one (AKS docs,
    best-practices-storage-nvme)."""
    whole = local_bytes(found)
    if "NvmeDisk" in _placements(found) and "NvmeSizePerDiskInMiB" in found:
        whole = int(found["NvmeSizePerDiskInMiB"]) << 20
    return min(whole // _GIB, MOST_GIB) if whole >= LEAST_DEFAULT_GIB * _GIB else LEAST_DEFAULT_GIB


def is_default(found: Mapping[str, str], gib: int) -> bool:
    """True where a pool that names no OS disk type gets an ephemeral one."""
    return supports_ephemeral(found) and 0 < (gib or LEAST_DEFAULT_GIB) <= room_gib(found, trusted_launch=False)


def _placements(found: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(found.get("SupportedEphemeralOSDiskPlacements", "").split(","))
