"""Regions, what each sells, and which quota a VM size counts in: the stand-in's own rows, each with its source.

What the program believes of the same is in the catalogue: a mistake there has to meet an Azure that knows better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.azure.data import load_json

_VCPUS = re.compile(r"Standard_[A-Z]+(\d+)")
"""A size's name has its vCPUs after the letters of its family (VM docs, vm-naming-conventions)."""


@dataclass(frozen=True)
class Region:
    """Zones, sizes and services of a region."""

    name: str
    zones: tuple[str, ...]
    sizes: frozenset[str]
    """Sizes that it sells. In which of its zones differs by subscription, so that all are taken for possible."""
    standard_v2: str
    """`yes`, `no` or `unknown`: NAT gateways of the zone-redundant SKU."""


@cache
def regions() -> Mapping[str, Region]:
    """The regions that the stand-in has a row for."""
    rows: dict[str, dict[str, Any]] = load_json("regions.json")
    return {
        name: Region(name, tuple(row["zones"]), frozenset(row["sizes"]), str(row["standardV2"]["offered"]))
        for name, row in rows.items()
    }


@cache
def quota_family(size: str) -> str:
    """`name.value` of the usage of Microsoft.Compute that a size counts in; empty where no row knows it."""
    rows: dict[str, dict[str, Any]] = load_json("quota_families.json")
    return next((name for name, row in rows.items() if re.fullmatch(row["sizes"], size)), "")


def vcpus(size: str) -> int:
    """vCPUs of a size, by its name; 0 where the name has none."""
    found = _VCPUS.match(size)
    return int(found[1]) if found else 0
