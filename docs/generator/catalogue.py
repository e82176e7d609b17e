"""docs/reference/catalogue.md, generated from the rows of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from docs.generator.markdown import code, codes, or_dash, table
from physical_ai.catalog import (
    VmSize,
    driver_branches,
    kubernetes_minors,
    mig_models,
    node_images,
    operator_releases,
    pinned_charts,
    prices,
    regions,
    servers,
    vgpu_models,
    vm_sizes,
)
from physical_ai.catalog.local_disks import LocalDisks, described

_HEAD = """\
# Catalogue

Generated from `physical_ai/catalog/data/` by `python -m docs.generator`: facts about Azure, Kubernetes and NVIDIA. Each
row there names its source, the date on which it was read, and the fields without a source (marked \\* here).
`physai sizes`, `physai regions` and `physai compat` use the same rows.
"""


def document() -> str:
    """Text of the complete page."""
    sections = (_sizes, _servers, _regions, _prices, _kubernetes, _releases, _drivers, _vgpus, _images, _mig, _charts)
    return "\n".join([_HEAD, *(section() for section in sections)])


def _sourced(rows: Iterable[tuple[str, object]]) -> str:
    """The sources of a table's rows with their dates, without duplicates."""
    sources = dict.fromkeys(f"{source} ({date})" for source, date in rows)
    return "Sources: " + "; ".join(sources) + ".\n"


def _marked(text: str, field: str, unverified: Sequence[str]) -> str:
    return f"{text} \\*" if field in unverified else text


_SIZE_HEAD = (
    "size",
    "vCPU",
    "memory",
    "GPUs",
    "local disks",
    "ephemeral OS disk",
    "drivers",
    "systems",
    "Spot",
    "quota family",
)


def _sizes() -> str:
    parts = ["## VM sizes\n"]
    for series, rows in groupby(vm_sizes().values(), key=lambda size: size.series):
        sizes = list(rows)
        parts += [f"### {series}\n", table(_SIZE_HEAD, map(_size, sizes))]
        known = [
            *((size.source, size.date) for size in sizes),
            *((size.disks.source, size.disks.date) for size in sizes),
        ]
        parts.append(_sourced(known))
    return "\n".join(parts)


def _os_disk(disks: LocalDisks) -> str:
    """GiB of the largest ephemeral OS disk, and on which local disk it fits; a mark where that size is assumed, not
    verified.
    """
    if not disks.placements:
        return "–"
    names = {"CacheDisk": "cache", "ResourceDisk": "temp disk", "NvmeDisk": "NVMe"}
    where = " or ".join(names[place] for place in disks.placements)
    known = f"{disks.known_gib} GiB" if disks.known_gib else "unknown"
    text = f"{known}, or more" if disks.known_gib and disks.unknown else known
    return _marked(f"{text} ({where})", "placements", disks.believed)


def _size(size: VmSize) -> tuple[str, ...]:
    name = code(size.name) + (f", retired: now {code(size.successor)}" if size.is_retired else "")
    gpu = size.gpu
    share = "" if gpu is None or gpu.share == "1" else f"{gpu.share} of a card, "
    gpus = "–" if gpu is None else f"{gpu.count} × {gpu.model}, {share}{gpu.memory_gib} GB{', vGPU' * gpu.virtual}"
    return (
        name,
        str(size.vcpus),
        f"{size.memory_gib} GiB",
        gpus,
        described(size.disks),
        _os_disk(size.disks),
        _marked(codes(size.driver_sources), "driverSources", size.unverified),
        codes(size.os_skus),
        _marked("yes" if size.low_priority else "no", "lowPriority", size.unverified),
        _marked(code(size.family), "family", size.unverified),
    )


def _servers() -> str:
    head = ("server", "shape", "CPUs", "memory", "GPUs", "rails", "drivers", "firmware", "VBIOS")
    rows: list[tuple[str, ...]] = []
    for each in servers().values():
        gpu, firmware = each.gpu, each.firmware
        minimum = each.minimum_driver and _marked(each.minimum_driver, "minimumDriver", each.unverified)
        rows.append(
            (
                code(each.name),
                each.shape,
                _marked(str(each.vcpus), "vcpus", each.unverified),
                _marked(f"{each.memory_gib} GiB", "memoryGib", each.unverified),
                "–" if gpu is None else f"{gpu.count} × {gpu.model}, {gpu.memory_gib} GB",
                f"{each.rails} of {each.rail_gbps} Gb/s",
                f"{codes(each.driver_sources)}, {minimum} or newer" if minimum else or_dash(None),
                or_dash(firmware and f"{firmware.bundle} ({firmware.tool})"),
                or_dash(firmware and firmware.vbios),
            )
        )
    text = "Nodes of clusters that exist already. The shape is sockets-GPUs-NICs-Gb/s of a rail.\n"
    sources = _sourced((each.source, each.date) for each in servers().values())
    return "\n".join(["## Servers\n", text, table(head, rows), sources])


def _regions() -> str:
    head = ("region", "name", "zones", "UTC offset")
    rows = [
        (code(each.name), each.display, or_dash(", ".join(each.zones)), each.utc_offset) for each in regions().values()
    ]
    parts = ["## Regions\n", table(head, rows)]
    parts.append(
        "Evidence that a region offers a size: **documented**, the Azure documentation names the region; **believed**,"
        " reported without a source; **price**, only a price is listed, which does not prove capacity.\n"
    )
    names = list(regions())
    listed = [
        (
            code(size),
            *(found.evidence if (found := each.sizes.get(size)) else "–" for each in regions().values()),
        )
        for size in vm_sizes()
    ]
    return "\n".join([*parts, table(("size", *map(code, names)), listed)])


def _prices() -> str:
    known = {(row.size, row.region): row for row in prices().values()}
    names = list(dict.fromkeys(region for _, region in known))
    sizes = list(dict.fromkeys(size for size, _ in known))
    rows = [
        (code(size), *(f"{row.usd_per_hour:g}" if (row := known.get((size, name))) else "–" for name in names))
        for size in sizes
    ]
    text = "US dollars an hour, Linux, on demand: list prices, an estimate. `physai cost STACK` adds them up.\n"
    return "\n".join(
        [
            "## Prices\n",
            text,
            table(("size", *map(code, names)), rows),
            _sourced((r.source, r.date) for r in known.values()),
        ]
    )


def _kubernetes() -> str:
    rows = [
        (code(each.minor), or_dash(each.ga), or_dash(each.end_of_life), each.ubuntu, "yes" if each.ubuntu2204 else "no")
        for each in kubernetes_minors().values()
    ]
    head = ("minor", "available", "end of support", "`Ubuntu` is", "`Ubuntu2204` works")
    sources = _sourced((each.source, each.date) for each in kubernetes_minors().values())
    return "\n".join(["## Kubernetes on AKS\n", table(head, rows), sources])


def _releases() -> str:
    rows = [
        (
            code(each.version),
            or_dash(each.released),
            "–" if each.kubernetes is None else " to ".join(each.kubernetes),
            "–" if each.containerd is None else " to ".join(each.containerd),
            codes(each.drivers),
            each.toolkit,
            each.driver_cr,
        )
        for each in operator_releases().values()
    ]
    head = ("release", "released", "Kubernetes", "containerd", "drivers, default first", "toolkit", "NVIDIADriver")
    sources = _sourced((each.source, each.date) for each in operator_releases().values())
    return "\n".join(["## GPU Operator\n", table(head, rows), sources])


def _drivers() -> str:
    rows = [
        (
            each.kind,
            str(each.branch),
            each.designation,
            or_dash(each.vgpu),
            _marked(or_dash(each.end_of_life), "endOfLife", each.unverified),
            ", ".join(
                code(build.version)
                + (" (MIG bug)" if build.mig_bug else "")
                + (" (checksum known)" if build.sha256 else "")
                for build in each.builds
            ),
        )
        for each in driver_branches().values()
    ]
    text = (
        "**MIG bug**: GPU Pods remain Pending on nodes that mix MIG and full GPUs (NVIDIA/gpu-operator#1361). "
        "**checksum"
        " known**: of Microsoft's GRID installer; others need one of yours.\n"
    )
    head = ("kind", "branch", "designation", "vGPU", "end of life", "builds")
    sources = _sourced((each.source, each.date) for each in driver_branches().values())
    return "\n".join(["## Drivers\n", text, table(head, rows), sources])


def _vgpus() -> str:
    rows = [
        (
            each.model,
            _marked(str(each.host_vgpu), "hostVgpu", each.unverified),
            _marked(codes(each.modules), "modules", each.unverified),
        )
        for each in vgpu_models().values()
    ]
    sources = _sourced((each.source, each.date) for each in vgpu_models().values())
    return "\n".join(["## vGPUs\n", table(("GPU", "vGPU branch of Azure's hosts", "kernel modules"), rows), sources])


def _images() -> str:
    rows = [
        (
            each.name,
            _marked(or_dash(each.containerd), "containerd", each.unverified),
            str(each.config_version),
            or_dash(each.kernel),
            "yes" if each.driver_images else "no",
        )
        for each in node_images().values()
    ]
    head = ("node image", "containerd", "its configuration's version", "kernel series", "NVIDIA's driver images")
    return "\n".join(
        ["## Node images\n", table(head, rows), _sourced((each.source, each.date) for each in node_images().values())]
    )


def _mig() -> str:
    rows = [
        (each.model, ", ".join(f"{code(name)} × {profile.most}" for name, profile in each.profiles.items()))
        for each in mig_models().values()
    ]
    sources = _sourced((each.source, each.date) for each in mig_models().values())
    return "\n".join(["## MIG profiles\n", table(("GPU", "profiles, with the most of each on one GPU"), rows), sources])


def _charts() -> str:
    rows = [
        (code(each.name), code(each.version), each.repository, "known" if each.sha256 else "of the first pull")
        for each in pinned_charts().values()
    ]
    sources = _sourced((each.source, each.date) for each in pinned_charts().values())
    return "\n".join(["## Helm charts\n", table(("chart", "version", "from", "checksum"), rows), sources])
