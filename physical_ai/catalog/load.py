"""Readers of the data files. Each file is checked as strictly as a user's file, and read once per process.

A fault in a data file is the project's fault, not the user's: it raises `CatalogError` with the file and row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from physical_ai.catalog.offers import Offers, seen_offers
from physical_ai.catalog.reading import CatalogError, read_all_rows, read_mapping, read_rows, row
from physical_ai.catalog.row import Row
from physical_ai.catalog.rows import KubernetesMinor, PriceRow, Region, VmSize

__all__ = [
    "DATA",
    "CatalogError",
    "kubernetes_minors",
    "prices",
    "read_all_rows",
    "read_mapping",
    "read_rows",
    "regions",
    "row",
    "vm_sizes",
]

DATA = Path(__file__).parent / "data"
_Row = TypeVar("_Row", bound=Row)


def _by_name(rows: Iterable[tuple[str, _Row]], file: str) -> dict[str, _Row]:
    found: dict[str, _Row] = {}
    for name, item in rows:
        if name in found:
            raise CatalogError(f"{file}: {name} is a duplicate")
        found[name] = item
    return found


@lru_cache(maxsize=1)
def vm_sizes() -> dict[str, VmSize]:
    """All VM sizes in the catalogue by name, in the order of the data file."""
    return sizes_with(seen_offers())


def sizes_with(offers: Offers) -> dict[str, VmSize]:
    """VM sizes of the catalogue and of `offers`, by name.

    Raises CatalogError where a size is invalid, or where both the catalogue and `offers` contain it.
    """
    rows = [*read_rows(DATA / "vm_sizes.yaml"), *offers.sizes]
    sizes = _by_name(((size.name, size) for size in _expand(rows)), "vm_sizes.yaml")
    for size in sizes.values():
        successor = sizes.get(size.successor or "")
        if size.is_retired and (successor is None or successor.is_retired):
            raise CatalogError(f"vm_sizes.yaml: {size.name} is retired and needs a successor that is not")
        if bool(size.driver_sources) != (size.gpu is not None):
            raise CatalogError(f"vm_sizes.yaml: {size.name} needs driver sources exactly if it has a GPU")
        if "host" in size.driver_sources:
            raise CatalogError(f"vm_sizes.yaml: {size.name}: nodes on Azure have no preinstalled driver")
    return sizes


def _expand(series_rows: Iterable[dict[str, Any]]) -> Iterable[VmSize]:
    for series in series_rows:
        shared = {key: value for key, value in series.items() if key not in ("sizes", "gpu", "disks")}
        for own in series["sizes"]:
            gpu = {**series.get("gpu", {}), **own.get("gpu", {})}
            disks = {**series.get("disks", {}), **own.get("disks", {})}
            yield row(
                VmSize, {**shared, **own, "gpu": gpu or None, "disks": disks}, f"vm_sizes.yaml: {own.get('name')}"
            )


@lru_cache(maxsize=1)
def regions() -> dict[str, Region]:
    """All regions in the catalogue by name."""
    return regions_with(seen_offers(), vm_sizes())


def regions_with(offers: Offers, known: Mapping[str, VmSize]) -> dict[str, Region]:
    """Regions of the catalogue and of `offers`, by name. `known`: VM sizes that `offers` may list in a region.

    Raises CatalogError if a region is invalid, if the catalogue and `offers` contain the same region, or if `offers`
    lists a size that the region has already or that is not in `known`.
    """
    series: dict[str, list[str]] = {}
    for size in known.values():
        series.setdefault(size.series, []).append(size.name)
    found: list[tuple[str, Region]] = []
    for data in [*read_rows(DATA / "regions.yaml"), *map(dict, offers.regions)]:
        where = f"regions.yaml: {data.get('name')}"
        sizes: dict[str, Any] = {}
        for listed in data.pop("lists"):
            names = listed.pop("series")
            unknown = [name for name in names if name not in series]
            if unknown:
                raise CatalogError(f"{where}: no such series: {', '.join(unknown)}")
            sizes.update({size: listed for name in names for size in series[name]})
        for listed in offers.listings:
            if listed["region"] == data.get("name"):
                size, rest = listed["size"], {k: v for k, v in listed.items() if k not in ("region", "size")}
                if size in sizes or size not in known:
                    raise CatalogError(f"{where}: {size} is listed twice, or is not in the catalogue")
                sizes[size] = rest
        region = row(Region, {**data, "sizes": sizes}, where)
        for name, listing in region.sizes.items():
            if not set(listing.zones or ()) <= set(region.zones):
                raise CatalogError(f"{where}: {name} has a zone that the region does not have")
        found.append((region.name, region))
    return _by_name(found, "regions.yaml")


@lru_cache(maxsize=1)
def prices() -> dict[tuple[str, str], PriceRow]:
    """Price rows by size and region."""
    return prices_with(seen_offers(), vm_sizes(), regions())


def prices_with(
    offers: Offers, sizes: Mapping[str, VmSize], places: Mapping[str, Region]
) -> dict[tuple[str, str], PriceRow]:
    """Prices of the catalogue and of `offers`, by size and region.

    Raises CatalogError where a price is invalid, or where both the catalogue and `offers` contain it.
    """
    found: dict[tuple[str, str], PriceRow] = {}
    for feed in [*read_rows(DATA / "prices.yaml"), *offers.prices]:
        for size, by_region in feed["usdPerHour"].items():
            for region, usd in by_region.items():
                if size not in sizes or region not in places or (size, region) in found:
                    raise CatalogError(f"prices.yaml: {size} in {region} is a duplicate, or not in the catalogue")
                data = {"size": size, "region": region, "usdPerHour": usd}
                found[size, region] = row(
                    PriceRow, {**data, "source": feed["source"], "date": feed["date"]}, f"prices.yaml: {size}"
                )
    return found


@lru_cache(maxsize=1)
def kubernetes_minors() -> dict[str, KubernetesMinor]:
    """Kubernetes minors by name (`1.36`), oldest first."""
    rows = (
        row(KubernetesMinor, data, f"kubernetes.yaml: {data.get('minor')}")
        for data in read_rows(DATA / "kubernetes.yaml")
    )
    return _by_name(((minor.minor, minor) for minor in rows), "kubernetes.yaml")
