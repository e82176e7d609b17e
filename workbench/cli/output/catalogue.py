"""Output of the catalogue's sizes and regions, as documents and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from workbench.cli.console import out, print_figures

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from physical_ai.settings.facts.pool_regions import Place

Places = Mapping[str, Mapping[str, "Place"]]
"""The catalogue's facts about each pool in each region, by the region's and then the pool's name."""


def size_rows(region: str | None, listed: set[str] | None) -> list[dict[str, Any]]:
    """VM sizes as data, with their prices in `region`. `listed`: names of the sizes to include; None for all sizes."""
    from physical_ai.catalog import price, vm_sizes

    rows: list[dict[str, Any]] = []
    for size in vm_sizes().values():
        if listed is not None and size.name not in listed:
            continue
        row = price(size.name, region) if region else None
        rows.append(
            {
                "name": size.name,
                "vcpus": size.vcpus,
                "memoryGib": size.memory_gib,
                "gpu": f"{size.gpu.share if size.gpu.share != '1' else size.gpu.count} × {size.gpu.model}"
                if size.gpu
                else None,
                "gpuMemoryGib": size.gpu.memory_gib if size.gpu else None,
                "tempDiskGib": size.disks.temp,
                "cacheGib": size.disks.cache,
                "nvmeGib": size.disks.nvme,
                "ephemeralOsDiskGib": size.disks.known_gib,
                "ephemeralOsDiskPlacements": list(size.disks.placements),
                "driverSources": list(size.driver_sources),
                "lifecycle": size.lifecycle,
                "successor": size.successor,
                "quotaFamily": size.family,
                "usdPerHour": row.usd_per_hour if row else None,
                "source": size.source,
                "date": size.date.isoformat(),
            }
        )
    return rows


def print_sizes(rows: Sequence[Mapping[str, Any]], *, prices: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("size", no_wrap=True)
    for column in ("vCPU", "GiB", "OS disk GiB"):
        table.add_column(column, justify="right")
    for column in ("GPU", "GPU GiB", "driver", "lifecycle", *(("USD/h",) if prices else ())):
        table.add_column(column)
    for row in rows:
        lifecycle = row["lifecycle"] + (f" → {row['successor']}" if row["successor"] else "")
        cells = [row["name"], row["vcpus"], row["memoryGib"], row["ephemeralOsDiskGib"] or "–", row["gpu"] or "–"]
        cells += [row["gpuMemoryGib"] or "–", " ".join(row["driverSources"]) or "–", lifecycle]
        cells += [row["usdPerHour"] if row["usdPerHour"] is not None else "–"] if prices else []
        table.add_row(*map(str, cells))
    out.print(table)


def region_rows() -> list[dict[str, Any]]:
    """All regions as data, with their zones and GPU sizes."""
    from physical_ai.catalog import regions, vm_sizes

    gpu_sizes = {name for name, size in vm_sizes().items() if size.gpu}
    return [
        {"name": name, "display": row.display, "zones": list(row.zones), "gpuSizes": sorted(gpu_sizes & set(row.sizes))}
        for name, row in regions().items()
    ]


def print_regions(rows: Sequence[Mapping[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("region", "name", "zones", "GPU sizes"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row["name"], row["display"], " ".join(row["zones"]) or "–", " ".join(row["gpuSizes"]) or "–")
    out.print(table)


def places_document(settings: Settings, places: Places) -> dict[str, Any]:
    """Data about the regions in which each pool of a stack could run."""
    from physical_ai.settings.facts.pools import node_pools

    return {
        "stack": settings.stack,
        "pools": {name: pool.sku for name, pool in node_pools(settings).items()},
        "regions": {
            region: {
                name: {
                    "possible": place.possible,
                    "evidence": place.evidence,
                    "zones": None if place.zones is None else list(place.zones),
                    "usdPerHour": place.usd_per_hour,
                    "verdicts": [each.document() for each in place.verdicts],
                }
                for name, place in pools.items()
            }
            for region, pools in places.items()
        },
    }


def print_places(settings: Settings, places: Places) -> None:
    """Prints the regions in which each pool of a stack could run."""
    from physical_ai.settings.facts.pools import node_pools

    out.print(f"pools of [bold]{settings.stack}[/] in each region of the catalogue; USD per node hour")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("region", no_wrap=True)
    for name, pool in node_pools(settings).items():
        table.add_column(f"{name}\n[not bold dim]{pool.sku.removeprefix('Standard_')}[/]")
    for region, pools in places.items():
        mark = f"[bold]{region}[/]" if region == settings.region else region
        table.add_row(mark, *(_cell(place) for place in pools.values()))
    print_figures(table)
    out.print(
        "[dim]documented: a source lists the region. believed: probably offered."
        " price only: the region has a price, which is not capacity.[/]",
        soft_wrap=True,
    )


def _cell(place: Place) -> str:
    """Cell of the table: evidence and price for a pool in a region, or the reason why it cannot run there."""
    refusal = next((each for each in place.verdicts if each.is_error), None)
    if refusal is not None:
        return "[red]no[/]" if refusal.rule == "size-not-in-region" else f"[red]no: {refusal.rule}[/]"
    word = "price only" if place.evidence == "price" else place.evidence
    price = "no price" if place.usd_per_hour is None else f"{place.usd_per_hour:,.3f}"
    return f"{word}, {price}"
