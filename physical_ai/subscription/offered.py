"""Catalogue rows made from Azure's answers about sizes, prices and locations, which are untrusted. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from physical_ai.catalog import VmSize, prices, regions, vm_sizes
from physical_ai.catalog.offers import Offers
from physical_ai.input_errors import InputError
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.capabilities import local_disks
from physical_ai.subscription.documents import document_of, map_of, rows_in, rows_of, size_offer, text_of, texts_in

_SIZE = re.compile(r"Standard_[A-Za-z0-9_]{1,60}", re.ASCII)
_REGION = re.compile(r"[a-z]{3,30}[0-9]{0,2}", re.ASCII)
_FAMILY = re.compile(r"[A-Za-z0-9_]{3,80}", re.ASCII)
_DISPLAY = re.compile(r"[A-Za-z0-9 .()-]{3,60}", re.ASCII)
MOST_VCPUS, MOST_GIB = 4096, 65536
DEAREST = 10_000
"""USD an hour above which a price is refused as a mistake."""
GPU_FACTS = ("model", "product", "memoryGib", "share", "virtual", "pci")
"""Facts about a GPU that Azure's answer lacks."""


class Refused(InputError):
    """Error if no rows can be made from an answer, because a value in the answer is wrong or missing."""


@dataclass(frozen=True)
class Origin:
    """Source and date of an answer, for the rows made from it."""

    source: str
    date: date


@dataclass
class Found:
    """New rows, and notes on what was left out and why."""

    offers: Offers = field(default_factory=Offers)
    notes: list[str] = field(default_factory=list[str])


def offered_sizes(
    answer: Any, wanted: Sequence[str], facts: Mapping[str, Any], like: VmSize | None, origin: Origin
) -> Found:
    """New catalogue rows for the sizes `wanted`, from an answer of Azure's Microsoft.Compute/skus. The result also
    lists the regions that offer these sizes, or sizes that the catalogue already has.

    Args:
        facts: Facts about the sizes that the answer lacks: `GPU_FACTS`, `driverSources`, `osSkus`, `mig`, `infiniband`.
        like: Size in the catalogue whose facts are used where `facts` has none.

    Raises Refused.
    """
    rows = [row for row in _rows("sizes", answer) if text_of(row, "resourceType") in ("virtualMachines", "")]
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if _SIZE.fullmatch(text_of(row, "name")):
            by_name.setdefault(text_of(row, "name"), []).append(row)
    if not by_name:
        raise Refused("The answer has no VM size. Write it with: az vm list-skus -l REGION -r virtualMachines -o json")
    found = Found()
    for name in dict.fromkeys(wanted):
        if name in vm_sizes():
            found.notes.append(f"{name} is in the catalogue: its row stays as it is")
        elif name not in by_name:
            raise Refused(f"The answer has no size '{name}'. Sizes in it: {_some(by_name)}")
        else:
            found.offers.sizes.append(_size(name, by_name[name][0], facts, like, origin))
    known = {*vm_sizes(), *wanted}
    for name, given in by_name.items():
        if name in known:
            _list(name, given, found, origin)
    return found


def offered_prices(answer: Any, sizes: Sequence[str], places: Sequence[str], origin: Origin) -> Found:
    """Price rows for known sizes in known regions, from an answer of the Retail Prices API. Raises Refused."""
    found, listed = Found(), dict[str, dict[str, float]]()
    for row in _rows("prices", answer, "Items"):
        size, region = text_of(row, "armSkuName"), text_of(row, "armRegionName")
        names = f"{text_of(row, 'productName')} {text_of(row, 'skuName')} {text_of(row, 'meterName')}".lower()
        if size not in sizes or region not in places or text_of(row, "type") != "Consumption":
            continue
        if any(word in names for word in ("windows", "spot", "low priority")) or _is_tier(row):
            continue
        if text_of(row, "currencyCode") != "USD" or text_of(row, "unitOfMeasure") != "1 Hour":
            raise Refused(f"The price of {size} in {region} is not in USD an hour. Ask with currencyCode='USD'.")
        usd = row.get("retailPrice")
        if not isinstance(usd, int | float) or isinstance(usd, bool) or not 0 < usd < DEAREST:
            raise Refused(f"The price of {size} in {region} is no amount between 0 and {DEAREST} USD an hour.")
        if (size, region) in prices():
            if prices()[size, region].usd_per_hour != usd:
                was = prices()[size, region].usd_per_hour
                found.notes.append(f"{size} in {region} costs {usd} there and {was} in the catalogue, which stays")
            continue
        if listed.setdefault(size, {}).setdefault(region, float(usd)) != usd:
            raise Refused(f"The answer has two prices for {size} in {region}: {listed[size][region]} and {usd}.")
    if listed:
        found.offers.prices.append({"source": origin.source, "date": origin.date, "usdPerHour": listed})
    return found


def offered_region(answer: Any, name: str, utc_offset: str, origin: Origin) -> Found:
    """Row of a region, from an answer about the subscription's locations. Raises Refused."""
    rows = {text_of(row, "name"): row for row in _rows("locations", answer)}
    if name in regions():
        raise Refused(f"The region '{name}' is in the catalogue: its row stays as it is.")
    if name not in rows or not _REGION.fullmatch(name):
        raise Refused(f"The answer has no region '{name}'. Regions in it: {_some(rows)}")
    row = rows[name]
    place = map_of(row.get("metadata"))
    if text_of(place, "regionType") == "Logical":
        raise Refused(f"'{name}' is no region with machines, but a group of regions.")
    display, zones = text_of(row, "displayName"), rows_in(row.get("availabilityZoneMappings"))
    if not _DISPLAY.fullmatch(display):
        raise Refused(f"The answer has no usable displayName for '{name}'.")
    data: dict[str, Any] = {
        "name": name,
        "display": display,
        "latitude": _degrees(place, "latitude", 90),
        "longitude": _degrees(place, "longitude", 180),
        "utcOffset": utc_offset,
        "zones": sorted({text_of(each, "logicalZone") for each in zones} & {"1", "2", "3"}),
        "natStandardV2": "unknown",
        "source": origin.source,
        "date": origin.date,
        "lists": [],
    }
    return Found(Offers(regions=[data]))


def _rows(what: str, answer: Any, key: str = "value") -> list[dict[str, Any]]:
    """Rows of an answer as the CLI prints it (a list) or as the API sends it (a document with a list)."""
    try:
        rows = rows_in(answer) if isinstance(answer, list) else rows_of(what, document_of(what, answer), key)
    except Unanswered as error:
        raise Refused(f"{error}.") from None
    if isinstance(answer, dict) and any(text_of(map_of(answer), each) for each in ("nextLink", "NextPageLink")):
        raise Refused(f"The answer about {what} is one page of several: save all of them as one list.")
    return rows


def _size(
    name: str, row: Mapping[str, Any], facts: Mapping[str, Any], like: VmSize | None, origin: Origin
) -> dict[str, Any]:
    offer = size_offer(row, "")
    told = offer.capabilities
    if told.get("CpuArchitectureType", "x64") != "x64":
        raise Refused(f"{name} has {told['CpuArchitectureType']} CPUs: the program installs software for x64 only.")
    disks, gib = local_disks(told), told.get("MemoryGB", "")
    if offer.vcpus is None or not 1 <= offer.vcpus <= MOST_VCPUS or not _FAMILY.fullmatch(offer.family):
        raise Refused(f"The answer lacks vCPUs or family of {name}: it is cut, or not Azure's.")
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", gib) or not 1 <= float(gib) <= MOST_GIB or disks is None:
        raise Refused(f"The answer lacks MemoryGB or EphemeralOSDiskSupported of {name}: it is cut, or not Azure's.")
    shared: dict[str, Any] = {
        "series": name.removeprefix("Standard_"),
        "family": offer.family,
        "source": origin.source,
        "date": origin.date,
        "lowPriority": bool(offer.spot),
        "osSkus": list(_fact("osSkus", facts, like) or ("Ubuntu", "Ubuntu2204", "AzureLinux")),
        "disks": {
            **disks.model_dump(mode="json", by_alias=True, exclude={"date", "source", "believed"}, exclude_none=True),
            "source": origin.source,
            "date": origin.date,
        },
        "sizes": [{"name": name, "vcpus": offer.vcpus, "memoryGib": int(float(gib))}],
    }
    if offer.gpus:
        shared |= _gpu(name, offer.gpus, facts, like)
    return shared


def _gpu(name: str, count: int, facts: Mapping[str, Any], like: VmSize | None) -> dict[str, Any]:
    gpu = {key: _fact(key, facts, like) for key in GPU_FACTS}
    sources = _fact("driverSources", facts, like)
    missing = [key for key, value in {**gpu, "driverSources": sources}.items() if value is None]
    if missing:
        wanted = " ".join(f"--fact {key}=…" for key in missing)
        raise Refused(
            f"Azure does not say of {name}: {', '.join(missing)}. Add: {wanted}, or --like SIZE of the same GPU."
        )
    optional = {key: _fact(key, facts, like) for key in ("hostMig", "rayTracing")}
    return {
        "gpu": {**gpu, "count": count, **{key: value for key, value in optional.items() if value is not None}},
        "driverSources": list(sources),
        "mig": bool(_fact("mig", facts, like)),
        "infiniband": bool(_fact("infiniband", facts, like)),
    }


def _fact(key: str, facts: Mapping[str, Any], like: VmSize | None) -> Any:
    if key in facts or like is None:
        return facts.get(key)
    data = like.model_dump(mode="json", by_alias=True)
    return map_of(data.get("gpu")).get(key, data.get(key))


def _list(name: str, rows: Sequence[Mapping[str, Any]], found: Found, origin: Origin) -> None:
    """Adds to `found` a listing of the size `name` for each region in `rows`. A region gets no listing if the catalogue
    does not have the region, if Azure refuses the size there, or if the size is already listed there.
    """
    for row in rows:
        for place in texts_in(row.get("locations")):
            region = place.lower()
            if not _REGION.fullmatch(region):
                continue
            if region not in regions():
                note = f"{region} is not in the catalogue: physai regions --add adds it"
                found.notes += [note] if note not in found.notes else []
                continue
            offer = size_offer(row, region)
            if offer.refused:
                found.notes.append(f"{region} does not offer {name} to this subscription: {offer.refused}")
            elif name not in regions()[region].sizes and not _has(found, region, name):
                zones = [zone for zone in offer.zones if zone in regions()[region].zones]
                told = {"source": origin.source, "date": origin.date}
                found.offers.listings.append(
                    {"region": region, "size": name, "zones": None, "seenZones": zones, "evidence": "seen", **told}
                )


def _has(found: Found, region: str, size: str) -> bool:
    return any((each["region"], each["size"]) == (region, size) for each in found.offers.listings)


def _is_tier(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("tierMinimumUnits"), int | float) and row["tierMinimumUnits"] > 0


def _degrees(place: Mapping[str, Any], key: str, most: int) -> float:
    try:
        value = float(str(place.get(key)))
    except ValueError:
        value = float("nan")
    if not -most <= value <= most:
        raise Refused(f"The answer has no {key} between -{most} and {most}.")
    return value


def _some(names: Mapping[str, Any]) -> str:
    """Text with the first ten `names` in alphabetical order; names that are unsafe to print are left out."""
    known: Iterator[str] = (each for each in names if re.fullmatch(r"[A-Za-z0-9_]{1,70}", each, re.ASCII))
    listed = sorted(known)
    return ", ".join(listed[:10]) + (f" and {len(listed) - 10} more" if len(listed) > 10 else "") or "none"
