"""Regions, the VM sizes and services that each region offers, and the quota that a VM size counts toward: the
simulator's own tables, each entry with its source.

The catalogue has the deployed program's own assumptions about regions and sizes. The simulator's tables are separate
from the catalogue, so that the simulator refuses a deployment that relies on a mistake in the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.azure.data import load_json

_VCPUS = re.compile(r"Standard_[A-Z]+(\d+)")
"""Pattern of a VM size's name, whose first number is the number of vCPUs (VM docs, vm-naming-conventions)."""


@dataclass(frozen=True)
class Region:
    """Zones, sizes and services of a region."""

    name: str
    zones: tuple[str, ...]
    sizes: frozenset[str]
    """VM sizes that the region sells. Each size is assumed to be offered in all zones, because the real zones differ by
    subscription.
    """
    standard_v2: str
    """`yes`, `no` or `unknown`: whether the region offers NAT gateways of the zone-redundant SKU StandardV2."""


@cache
def regions() -> Mapping[str, Region]:
    """The regions that the simulator knows, by name."""
    rows: dict[str, dict[str, Any]] = load_json("regions.json")
    return {
        name: Region(name, tuple(row["zones"]), frozenset(row["sizes"]), str(row["standardV2"]["offered"]))
        for name, row in rows.items()
    }


@cache
def quota_family(size: str) -> str:
    """`name.value` of the Microsoft.Compute usage that a VM size counts toward; empty if no table entry matches the
    size.
    """
    rows: dict[str, dict[str, Any]] = load_json("quota_families.json")
    return next((name for name, row in rows.items() if re.fullmatch(row["sizes"], size)), "")


def vcpus(size: str) -> int:
    """Number of vCPUs in the name of a VM size; 0 if the name contains none."""
    match = _VCPUS.match(size)
    return int(match[1]) if match else 0
