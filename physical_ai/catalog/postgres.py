"""Versions and compute sizes that PostgreSQL Flexible Server offers new servers in a region, and the size that a stack
gets.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from physical_ai.catalog.local_disks import How
from physical_ai.catalog.reading import CatalogError, read_rows, row
from physical_ai.catalog.row import Offered, Row, Text

FILE, VERSIONS, SIZES = "postgres_regions.yaml", "postgres_versions.yaml", "postgres_sizes.yaml"
NEWEST = 5
"""Newest generation of compute sizes in the service's lists, and the generation of the default compute size."""


class PostgresRegion(Row):
    """Features that PostgreSQL Flexible Server offers in one region. `no` also means that a feature is closed for new
    servers; an existing server keeps it.
    """

    generations: tuple[int, ...]
    """Generations of general purpose and memory optimized sizes; empty where they are not known."""
    zone_redundant: Offered
    same_zone: Offered
    geo_backup: Offered
    zone_redundant_and_geo: Offered
    how: How
    source: Text
    date: datetime.date

    @property
    def default_size(self) -> str:
        """A general purpose size of two cores, of the newest generation that the region is known to have.

        >>> postgres_regions()["westus2"].default_size
        'Standard_D2ds_v4'
        """
        newest = max((each for each in self.generations if each <= NEWEST), default=NEWEST)
        return f"Standard_D2{'ds' if newest > 3 else 's'}_v{newest}"

    def has_size(self, size: str) -> bool:
        """True if the region may offer the compute size `size`: the region has the size's generation, the region's
        generations are unknown, or the name contains no generation, as for burstable sizes.
        """
        match = re.search(r"_[DE].*_v([0-9]+)$", size)
        return match is None or not self.generations or int(match[1]) in self.generations


@lru_cache(maxsize=1)
def postgres_regions() -> Mapping[str, PostgresRegion]:
    """Known offers of PostgreSQL Flexible Server, by region."""
    found: dict[str, PostgresRegion] = {}
    for feed in read_rows(Path(__file__).parent / "data" / FILE):
        shared = {key: value for key, value in feed.items() if key != "regions"}
        rows: dict[str, dict[str, Any]] = feed["regions"]
        for name, values in rows.items():
            if name in found:
                raise CatalogError(f"{FILE}: {name} is a duplicate")
            found[name] = row(PostgresRegion, {**shared, **values}, f"{FILE}: {name}")
    return found


class PostgresVersion(Row):
    """A major version of PostgreSQL on Azure."""

    version: Text
    ga: datetime.date
    """First day of the month in which the version became generally available."""
    end: datetime.date
    """Last day of Azure's standard support; afterwards, no new servers of the version can be created."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def postgres_versions() -> Mapping[str, PostgresVersion]:
    """Every version that a stack may have, oldest first.

    >>> list(postgres_versions())
    ['15', '16', '17', '18']
    """
    rows = read_rows(Path(__file__).parent / "data" / VERSIONS)
    return {each["version"]: row(PostgresVersion, each, f"{VERSIONS}: {each['version']}") for each in rows}


class PostgresSizes(Row):
    """Compute sizes that one source lists."""

    series: Mapping[str, tuple[int, ...]]
    """Core counts that each series of compute sizes offers. The name of a series has `#` in place of the core count."""
    source: Text
    date: datetime.date

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(series.replace("#", str(each)) for series, cores in self.series.items() for each in cores)


@lru_cache(maxsize=1)
def postgres_sizes() -> tuple[PostgresSizes, ...]:
    return tuple(row(PostgresSizes, each, SIZES) for each in read_rows(Path(__file__).parent / "data" / SIZES))


def is_no_postgres_size(size: str) -> bool:
    """True for a compute size that Azure certainly does not offer: no list contains it, although its generation is
    known.

    Generations newer than `NEWEST` are unknown, so the result for their sizes is False.

    >>> is_no_postgres_size("Standard_D3ds_v4"), is_no_postgres_size("Standard_D2ds_v6")
    (True, False)
    """
    generation = re.search(r"_v([0-9]+)$", size)
    if generation is not None and int(generation[1]) > NEWEST:
        return False
    return all(size not in each.names for each in postgres_sizes())
