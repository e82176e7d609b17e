"""Azure's offers: regions, quotas and Kubernetes versions from the simulator's own tables, and VM sizes from the
catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from physical_ai import catalog
from physical_ai.citations import changed_in
from simulator.azure import places, sku_capabilities
from simulator.azure.data import load_json
from simulator.azure.places import Region


class Offers(Protocol):
    """Regions, sizes, quotas and Kubernetes versions that Azure offers."""

    def size(self, name: str) -> catalog.VmSize | None: ...
    def capabilities(self, name: str) -> Mapping[str, str]:
        """Capabilities of a VM size in the SKU API; empty if the simulator does not know the size."""
        ...

    def region(self, name: str) -> Region | None: ...
    def quota_family(self, size: str) -> str:
        """Name of the Microsoft.Compute usage that a VM size counts toward; empty if the simulator does not know the
        size.
        """
        ...

    def vcpus(self, size: str) -> int: ...
    def versions(self, *, long_term: bool = False) -> Sequence[str]:
        """Kubernetes patch versions that AKS offers, oldest first. `long_term`: also versions that need the long-term
        support plan.
        """
        ...

    def ubuntu(self, version: str) -> str:
        """Ubuntu release that the osSKU `Ubuntu` means on this Kubernetes version: `24.04`."""
        ...


@dataclass(frozen=True)
class CatalogOffers:
    """Offers from the simulator's own tables and the catalogue's hardware; `past` adds retired Kubernetes versions."""

    past: bool = False

    def size(self, name: str) -> catalog.VmSize | None:
        return catalog.vm_sizes().get(name)

    def capabilities(self, name: str) -> Mapping[str, str]:
        return sku_capabilities.capabilities().get(name, {})

    def region(self, name: str) -> Region | None:
        return places.regions().get(location(name))

    def quota_family(self, size: str) -> str:
        return places.quota_family(size)

    def vcpus(self, size: str) -> int:
        return places.vcpus(size)

    def versions(self, *, long_term: bool = False) -> Sequence[str]:
        table: dict[str, Any] = load_json("kubernetes_versions.json")
        kept = [minor for minor in table["retired"] if self.past or (long_term and minor in table["longTerm"])]
        minors = [*(table["retired"][minor] for minor in kept), *table["patches"].values()]
        return [patch for patches in minors for patch in patches]

    def ubuntu(self, version: str) -> str:
        try:
            return catalog.kubernetes_minor(version).ubuntu
        except catalog.UnknownName:
            return "24.04"


def unknown_here(file: str) -> str:
    """Text for the refusal of a name that the simulator's table `file` lacks: if the real Azure has the name, add it
    there.
    """
    return f" (The simulator knows what is in {changed_in(file)}. If Azure has this, add it there.)"


def location(name: str) -> str:
    """Short form of a region's name: `westus2` for `West US 2`. Azure accepts both forms."""
    return name.replace(" ", "").lower()


def resolve(asked: str, versions: Sequence[str]) -> str | None:
    """The patch version for a requested version, which is a patch version or a minor; a minor gives its newest patch.
    None if Azure does not offer the version.
    """
    exact = asked.count(".") == 2
    found = [v for v in versions if v == asked or (not exact and v.startswith(f"{asked}."))]
    return found[-1] if found else None


def number(version: str) -> tuple[int, ...]:
    """A version as a tuple of numbers, for comparing: `1.36.3` → (1, 36, 3)."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
