"""Lookup of rows of the catalogue's tables by name, and suggestion of the name that was probably meant if there is no
such row.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

from physical_ai.catalog.load import kubernetes_minors, prices, regions, vm_sizes
from physical_ai.catalog.other_sizes import OTHER_GPUS, gpu_of, why_not
from physical_ai.catalog.rows import KubernetesMinor, PriceRow, Region, VmSize


class UnknownName(LookupError):
    """Raised for a name that is not in a table of the catalogue. `suggestion` is the nearest known name, or None if no
    name is near.
    """

    def __init__(self, kind: str, name: str, suggestion: str | None) -> None:
        super().__init__(f"'{name}' is not a {kind} this project knows.")
        self.kind = kind
        self.name = name
        self.suggestion = suggestion


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Known name that is most similar to `name`, ignoring case; None when none is similar."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=cutoff)
    return by_lower[matches[0]] if matches else None


def vm_size(name: str) -> VmSize:
    """The VM size of this name, retired sizes included.

    Raises `UnknownName`; its suggestion is never a retired size.
    """
    size = vm_sizes().get(name)
    if size is None:
        near = _like(name if name.lower().startswith("standard_") else f"Standard_{name}")
        raise UnknownName("VM size", name, current_name(near) if near else None)
    return size


def _like(name: str) -> str | None:
    """The VM size with the most similar name and the same GPU; None if no name is similar. A size with another GPU is
    never suggested as a correction.
    """
    if why_not(name) is not None:
        return None
    gpu = gpu_of(name)
    if gpu in OTHER_GPUS:
        return None
    same = [size for size in vm_sizes() if gpu is not None and gpu_of(size) == gpu]
    return nearest(name, same, 0.75) or nearest(name, vm_sizes(), 0.9)


def current_name(name: str) -> str:
    """Name of the VM size to use instead of the size `name`: the successor of a retired size; `name` itself for any
    other size.
    """
    size = vm_sizes()[name]
    return size.successor or size.name


def region(name: str) -> Region:
    """The region of this name. Raises `UnknownName`."""
    found = regions().get(name)
    if found is None:
        by_display = {r.display: r.name for r in regions().values()}
        near = nearest(name.replace(" ", ""), regions()) or by_display.get(nearest(name, by_display) or "")
        raise UnknownName("region", name, near)
    return found


def price(size: str, region_name: str) -> PriceRow | None:
    """Row with the on-demand list price of a size in a region; None where the catalogue has no price."""
    return prices().get((size, region_name))


def kubernetes_minor(version: str) -> KubernetesMinor:
    """Row of the Kubernetes minor that `version` belongs to: `1.36` for `1.36.3`. Raises `UnknownName`."""
    minor = ".".join(version.split(".")[:2])
    row = kubernetes_minors().get(minor)
    if row is None:
        near = nearest(minor, kubernetes_minors()) or list(kubernetes_minors())[-1]
        raise UnknownName("Kubernetes version", version, near)
    return row


KubernetesPhase = Literal["due", "supported", "platform", "gone"]


def has_long_term(minor: KubernetesMinor, today: datetime.date) -> bool:
    """True if AKS offers long-term support for the minor, and that support has not ended before `today`."""
    return minor.long_term_end_of_life is not None and today <= minor.long_term_end_of_life


PLATFORM_SUPPORT = 3
"""Number of newer Kubernetes minors that may exist before AKS stops running clusters of an unsupported minor (AKS's
"platform support", n-3).
"""


def kubernetes_phase(minor: KubernetesMinor, today: datetime.date, *, long_term: bool = False) -> KubernetesPhase:
    """Phase of a Kubernetes minor on AKS on the day `today` (AKS docs, supported-kubernetes-versions).

    `due`: the minor is not released yet.
    `supported`: the minor is in support; with `long_term`, long-term support counts too.
    `platform`: support has ended; existing clusters still run, new clusters are refused.
    `gone`: AKS no longer offers the minor.
    """
    if minor.ga is not None and today < minor.ga:
        return "due"
    if minor.end_of_life is None or today <= minor.end_of_life or (long_term and has_long_term(minor, today)):
        return "supported"
    every = list(kubernetes_minors().values())
    newer = [other for other in every[every.index(minor) + 1 :] if other.ga is None or other.ga <= today]
    return "platform" if len(newer) <= PLATFORM_SUPPORT else "gone"


def regions_listing(size: str, near: str) -> list[Region]:
    """Regions that list `size`, the nearest to region `near` first."""
    origin = regions().get(near)
    listing = [r for r in regions().values() if size in r.sizes]
    return sorted(listing, key=lambda r: _distance(origin, r)) if origin else listing


def _distance(a: Region, b: Region) -> float:
    """Great-circle angle between two regions, in radians."""
    lat_a, lon_a, lat_b, lon_b = map(math.radians, (a.latitude, a.longitude, b.latitude, b.longitude))
    haversine = (
        math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    )
    return 2 * math.asin(min(1.0, math.sqrt(haversine)))
