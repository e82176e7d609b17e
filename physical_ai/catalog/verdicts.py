"""Rules about one node pool: can a pool of this VM size, in this region, have the requested settings? The rules only
read the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from physical_ai.catalog import sources
from physical_ai.catalog.hardware import machine
from physical_ai.catalog.local_disks import LocalDisks, described, fit
from physical_ai.catalog.lookup import UnknownName, region, regions_listing, vm_size
from physical_ai.catalog.other_sizes import why_not
from physical_ai.catalog.rows import Region, VmSize
from physical_ai.findings import Finding, Severity


def judge(  # noqa: PLR0917 - the six facts that the rules need
    size_name: str,
    region_name: str,
    driver_source: str | None = None,
    os_disk_type: str = "Managed",
    os_disk_gib: int | None = None,
    zones: Sequence[str] = (),
    *,
    os_sku: str = "Ubuntu",
    spot: bool = False,
    trusted_launch: bool = False,
) -> list[Finding]:
    """Errors and warnings about a node pool. `Finding.where` is the setting to change: a field of the pool, or
    `region`.

    `driver_source`: None for a pool without GPUs.
    `os_disk_gib`: None for the default size.
    `trusted_launch`: True with Secure Boot or a vTPM.
    """
    try:
        size = vm_size(size_name)
    except UnknownName as error:
        fix = f"Did you mean {describe(error.suggestion)}?" if error.suggestion else why_not(size_name)
        more = "All sizes: physai sizes"
        fix = f"{fix}  {more}" if fix else more
        return [Finding(Severity.ERROR, "size-unknown", "sku", str(error), fix, sources.SIZES)]
    verdicts = [*_lifecycle(size), *_driver(size, driver_source, os_sku)]
    verdicts += _os_disk(size, os_disk_type, os_disk_gib, trusted_launch)
    if spot and not size.low_priority:
        message = f"{size.name} can't be Spot: Azure offers the size at regular priority only."
        verdicts.append(Finding(Severity.ERROR, "size-not-spot", "priority", message, "priority: Regular", size.source))
    try:
        place = region(region_name)
    except UnknownName as error:
        fix = f"Did you mean '{error.suggestion}'?  All regions: physai regions" if error.suggestion else None
        return [
            *verdicts,
            Finding(Severity.ERROR, "region-unknown", "region", str(error), fix, sources.REGIONS),
        ]
    return [*verdicts, *_zones(size, place, zones), *(() if size.is_retired else _listing(size, place))]


def describe(name: str) -> str:
    """Name of a VM size or server with its GPUs, for messages: `'Standard_NC40ads_H100_v5' (1 × H100 NVL, 94 GB)`."""
    size = machine(name)
    if size.gpu is None:
        return f"'{name}' ({size.vcpus} vCPU, {size.memory_gib} GiB)"
    amount = f"{size.gpu.count} ×" if size.gpu.share == "1" else size.gpu.share
    return f"'{name}' ({amount} {size.gpu.model}, {size.gpu.memory_gib} GB)"


def _lifecycle(size: VmSize) -> Iterator[Finding]:
    if size.is_retired and size.successor:
        message = f"{size.name} was a preview size; it no longer deploys and has no SLA."
        yield Finding(Severity.ERROR, "size-retired", "sku", message, f"Use {describe(size.successor)}.", size.source)


def _driver(size: VmSize, driver_source: str | None, os_sku: str) -> Iterator[Finding]:
    if driver_source is not None and size.gpu is None:
        message = f"{size.name} has no GPU, so it has no driver either."
        yield Finding(
            Severity.ERROR, "size-no-gpu", "sku", message, "Choose a size with a GPU: physai sizes", size.source
        )
        return
    if driver_source is None and size.gpu is not None:
        message = f"{size.name} has a GPU; this pool runs no GPU work and would waste it."
        yield Finding(
            Severity.ERROR, "size-with-gpu", "sku", message, "Choose a size without a GPU: physai sizes", size.source
        )
        return
    if driver_source is not None and driver_source not in size.driver_sources:
        reason = ""
        if driver_source == "grid":
            reason = ": it has a full GPU, and GRID drivers support virtual GPUs only"
        elif size.gpu and size.gpu.virtual:
            aks = driver_source == "aks"
            reason = ": AKS has no driver for it" if aks else ": its GPU is virtual and needs a GRID driver"
        message = f"Driver source '{driver_source}' does not work on {size.name}{reason}."
        fix = f"Use one of: {', '.join(size.driver_sources)}."
        yield Finding(Severity.ERROR, "driver-source", "driver.source", message, fix, size.source)
    supported = [sku for sku in size.os_skus if sku != "AzureLinux" or driver_source in (None, "aks")]
    if os_sku not in supported:
        reason = "" if os_sku in size.os_skus else f" ({size.name} supports Ubuntu only)"
        source = f" with driver source '{driver_source}'" if driver_source else ""
        message = f"osSku {os_sku} does not work{source}{reason}."
        yield Finding(Severity.ERROR, "os-sku", "osSku", message, f"Use one of: {', '.join(supported)}.", size.source)


def _os_disk(size: VmSize, os_disk_type: str, os_disk_gib: int | None, trusted_launch: bool) -> Iterator[Finding]:
    if os_disk_type == "Ephemeral":
        yield from judge_os_disk(size.name, size.disks, os_disk_gib, trusted_launch=trusted_launch)


def judge_os_disk(
    name: str, disks: LocalDisks, os_disk_gib: int | None, *, trusted_launch: bool = False
) -> Iterator[Finding]:
    """Findings about an ephemeral OS disk of `os_disk_gib` on a VM size; None stands for the default disk size."""
    if not disks.placements:
        message = f"{name} has no local disk for an ephemeral OS disk."
        yield Finding(Severity.ERROR, "ephemeral-support", "osDisk.type", message, "Use type: Managed.", disks.source)
        return
    disk_gib = os_disk_gib if os_disk_gib is not None else disks.default_gib
    found = fit(disks, disk_gib, trusted_launch=trusted_launch)
    where = "osDisk.sizeGb" if os_disk_gib is not None else "osDisk.type"
    asked = f"{disk_gib} GiB" if os_disk_gib is not None else f"the default {disk_gib} GiB"
    if found.answer == "no":
        message = f"An ephemeral OS disk of {asked} does not fit {name}: {_places(disks)}."
        fix = f"At most sizeGb: {found.most_gib}, or type: Managed." if found.most_gib else "Use type: Managed."
        yield Finding(Severity.ERROR, "ephemeral-fit", where, message, fix, disks.source)
    elif found.answer == "unknown":
        message = f"It is not known whether an ephemeral OS disk of {asked} fits {name}: {_places(disks)}."
        fix = "physai check asks Azure; AKS refuses a pool whose disk does not fit. type: Managed fits."
        yield Finding(Severity.WARNING, "ephemeral-unknown", where, message, fix, disks.source)
    elif disks.on_nvme and os_disk_gib is not None:
        message = f"On {name} an ephemeral OS disk uses complete NVMe devices; the space beyond sizeGb is lost."
        fix = "Leave sizeGb out, or use type: Managed to keep the NVMe as scratch."
        yield Finding(
            Severity.WARNING, "ephemeral-nvme", "osDisk.sizeGb", message, fix, "AKS docs, best-practices-storage-nvme"
        )


def _places(disks: LocalDisks) -> str:
    """Text about the local disks of a VM size, and about NVMe disks of the size on which AKS places no OS disk."""
    text = f"it has {described(disks)}"
    if disks.nvme and "NvmeDisk" not in disks.placements:
        text += "; no OS disk is placed on its NVMe"
    return text


def _listing(size: VmSize, place: Region) -> Iterator[Finding]:
    listing = place.sizes.get(size.name)
    if listing is None:
        others = [r.name for r in regions_listing(size.name, near=place.name)][:3]
        fix = f"Nearest regions that list it: {', '.join(others)}." if others else "No known region lists it."
        message = f"{place.name} does not list {size.name}."
        yield Finding(Severity.ERROR, "size-not-in-region", "sku", message, fix, place.source)
    elif listing.evidence == "price":
        known = [r.name for r in regions_listing(size.name, near=place.name) if r.sizes[size.name].evidence != "price"]
        message = f"{place.name} has a price for {size.name}, but no documentation lists the size there."
        fix = f"Run: az vm list-skus -l {place.name} --size {size.name}"
        fix += f"; known in {', '.join(known[:3])}." if known else "."
        yield Finding(Severity.WARNING, "size-in-region-unconfirmed", "sku", message, fix, listing.source)


def _zones(size: VmSize, place: Region, zones: Sequence[str]) -> Iterator[Finding]:
    if not zones:
        return
    strange = [zone for zone in zones if zone not in place.zones]
    if strange:
        has = f"has zones {', '.join(place.zones)}" if place.zones else "has no availability zones"
        fix = f"Use some of {', '.join(place.zones)}." if place.zones else "zones: []"
        message = f"{place.name} {has}, not {', '.join(strange)}."
        yield Finding(Severity.ERROR, "zone-not-in-region", "zones", message, fix, place.source)
        return
    listing = place.sizes.get(size.name)
    if listing is None:
        return
    if listing.zones is None:
        seen = f" One saw it in {', '.join(listing.seen_zones)}." if listing.seen_zones else ""
        message = f"In which zones {place.name} offers {size.name} differs by subscription.{seen}"
        fix = f"Run: az vm list-skus -l {place.name} --size {size.name} --zone; or leave zones empty."
        yield Finding(Severity.WARNING, "size-zones-unknown", "zones", message, fix, listing.source)
    elif missing := [zone for zone in zones if zone not in listing.zones]:
        offered = f"offers it in {', '.join(listing.zones)}" if listing.zones else "offers it without zones"
        fix = "zones: [" + ", ".join(f'"{zone}"' for zone in listing.zones) + "]"
        message = f"{place.name} does not offer {size.name} in zone {', '.join(missing)}; it {offered}."
        yield Finding(Severity.ERROR, "size-not-in-zone", "zones", message, fix, listing.source)
