"""Findings about a pool from its VM size's capabilities in the subscription's SKU list. Pure functions."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Literal

from physical_ai.catalog import sources, vm_size
from physical_ai.catalog.capacity import CAPACITY_RESERVATIONS, reservable
from physical_ai.catalog.local_disks import LocalDisks, Placement, described
from physical_ai.catalog.verdicts import judge_os_disk
from physical_ai.findings import Finding, Severity
from physical_ai.settings import NodePool, Pool

_AZURE = "Azure"
_ON_CONTROLLER: Mapping[Placement, str] = {
    "CacheDisk": "CachedDiskBytes",
    "ResourceDisk": "MaxResourceVolumeMB",
    "NvmeDisk": "NvmeDiskSizeInMiB",
}


def capability_findings(name: str, pool: NodePool, reported: Mapping[str, str]) -> Iterator[Finding]:
    """Findings about a pool's OS disk, security and performance, from the capabilities that Azure reports for its size;
    none if Azure reports no capabilities.
    """
    if reported:
        yield from _os_disk(name, pool, reported)
        yield from _security(name, pool, reported)
        yield from _performance(name, pool, reported)
        yield from _reservation(name, pool, reported)


def local_disks(reported: Mapping[str, str]) -> LocalDisks | None:
    """Local disks of a VM size; None if Azure does not say whether the size supports an ephemeral OS disk."""
    supported = reported.get("EphemeralOSDiskSupported", "").lower()
    if supported not in {"true", "false"}:
        return None
    temp = _number(reported, "MaxResourceVolumeMB") >> 10
    cache, nvme = _number(reported, "CachedDiskBytes") >> 30, _number(reported, "NvmeDiskSizeInMiB") >> 10
    per_disk = _number(reported, "NvmeSizePerDiskInMiB") >> 10
    named = reported.get("SupportedEphemeralOSDiskPlacements", "CacheDisk,ResourceDisk").split(",")
    places: list[Placement] = [
        each for each in _ON_CONTROLLER if each in named and _number(reported, _ON_CONTROLLER[each])
    ]
    return LocalDisks(
        temp=temp,
        cache=cache,
        nvme=nvme,
        devices=max(nvme // per_disk, 1) if per_disk else None,
        placements=tuple(places) if supported == "true" else (),
        how="seen",
        source="Microsoft.Compute/skus",
        date=datetime.date.min,
    )


def _os_disk(name: str, pool: NodePool, reported: Mapping[str, str]) -> Iterator[Finding]:
    found = local_disks(reported)
    if found is None:
        return
    if pool.os_disk.type == "Ephemeral":
        secure = isinstance(pool, Pool) and pool.secure_boot
        for each in judge_os_disk(pool.sku, found, pool.os_disk.size_gb, trusted_launch=secure):
            yield Finding(each.severity, "size", name, each.problem, each.fix, _AZURE)
    elif reported.get("PremiumIO", "").lower() == "false":
        problem = f"{pool.sku} takes no Premium SSD, so its managed OS disk is a slow one."
        yield Finding(Severity.WARNING, "size", name, problem, "Choose a size with an s, as Standard_D4ds_v5.", _AZURE)
    yield from _differences(name, pool.sku, found)


def _differences(name: str, sku: str, found: LocalDisks) -> Iterator[Finding]:
    """Findings about the local disks of a VM size. There is a finding if Azure and the catalogue differ, or if the
    catalogue's values have no verified source.

    `found`: the local disks that Azure reports.
    """
    row = vm_size(sku).disks
    kinds: tuple[Literal["temp", "cache", "nvme"], ...] = ("temp", "cache", "nvme")
    wrong = [kind for kind in kinds if getattr(row, kind) not in (None, getattr(found, kind))]
    # A row may name a placement of unknown size: the size may have nothing there.
    if wrong or (set(row.placements) ^ set(found.placements)) - set(row.unknown):
        problem = f"Azure reports for {sku}: {described(found)}, {_placed(found)}. The catalogue has {described(row)},"
        yield Finding(Severity.WARNING, "size", name, f"{problem} {_placed(row)}.", f"Correct {sources.SIZES}.", _AZURE)
    elif row.unknown or row.believed or row.how == "believed":
        problem = f"Azure reports for {sku}: {described(found)}, {_placed(found)}; the catalogue only believes it."
        yield Finding(Severity.INFO, "catalogue", sku, problem, f"Enter it as seen in {sources.SIZES}.", _AZURE)


def _placed(disks: LocalDisks) -> str:
    return f"an ephemeral OS disk on {' or '.join(disks.placements)}" if disks.placements else "no ephemeral OS disk"


def _security(name: str, pool: NodePool, reported: Mapping[str, str]) -> Iterator[Finding]:
    if not isinstance(pool, Pool) or not pool.secure_boot:
        return
    first_only = "HyperVGenerations" in reported and "V2" not in reported["HyperVGenerations"].split(",")
    if reported.get("TrustedLaunchDisabled", "").lower() == "true" or first_only:
        problem = f"{pool.sku} has no Trusted Launch in this region, which Secure Boot needs."
        yield Finding(Severity.ERROR, "size", name, problem, "secureBoot: false, or another size.", _AZURE)


def _reservation(name: str, pool: NodePool, reported: Mapping[str, str]) -> Iterator[Finding]:
    if not isinstance(pool, Pool) or pool.capacity.reservation is None:
        return
    said, file = reported.get("CapacityReservationSupported", "").lower(), CAPACITY_RESERVATIONS
    if said == "false":
        problem = f"Azure makes no capacity reservations of {pool.sku} in this region."
        yield Finding(Severity.ERROR, "reservation", name, problem, "Remove capacity.reservation.", _AZURE)
    elif said == "true" and reservable(vm_size(pool.sku).series) != "yes":
        problem = f"Azure makes capacity reservations of {pool.sku}, which the catalogue does not know."
        yield Finding(Severity.INFO, "catalogue", pool.sku, problem, f"Enter it as seen in {file}.", _AZURE)


def _performance(name: str, pool: NodePool, reported: Mapping[str, str]) -> Iterator[Finding]:
    if reported.get("AcceleratedNetworkingEnabled", "").lower() == "false":
        problem = f"{pool.sku} has no accelerated networking: traffic of its nodes goes through the host's switch."
        yield Finding(Severity.WARNING, "size", name, problem, "Choose another size for traffic between nodes.", _AZURE)
    controllers = reported.get("DiskControllerTypes")
    on_nvme = "NvmeDisk" in vm_size(pool.sku).disks.placements
    if controllers is not None and on_nvme and "NVMe" not in controllers.split(","):
        problem = f"{pool.sku} has a {controllers} controller, on which no OS disk is placed on NVMe."
        yield Finding(Severity.WARNING, "size", name, problem, f"Correct {sources.SIZES}.", _AZURE)


def _number(reported: Mapping[str, str], key: str) -> int:
    value = reported.get(key, "0")
    return int(value) if value.isdigit() else 0
