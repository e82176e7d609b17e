"""Limits of Azure and Kubernetes on a pool's capacity: Spot, reservations, nodes that are kept ready, empty pools.

>>> limit("reservation-spot").how
'read'
"""

from __future__ import annotations

import datetime
from functools import cache
from typing import Literal

from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.row import Offered, Row, Text

FILE = DATA / "capacity.yaml"
CAPACITY_RESERVATIONS = "physical_ai/catalog/data/capacity_reservations.yaml"
CAPACITY_SOURCE = "physical_ai/catalog/data/capacity.yaml"


class CapacityLimit(Row):
    """One limit; the data file explains the fields."""

    id: Text
    what: Text
    says: Text
    instead: Text
    how: Literal["read", "reported", "believed"]
    source: Text
    date: datetime.date


@cache
def capacity_limits() -> tuple[CapacityLimit, ...]:
    """All limits, in the order of the data file."""
    return tuple(row(CapacityLimit, each, f"capacity.yaml: {each.get('id')}") for each in read_rows(FILE))


def limit(name: str) -> CapacityLimit:
    """The limit with this id. Raises CatalogError if there is none."""
    found = next((each for each in capacity_limits() if each.id == name), None)
    if found is None:
        raise CatalogError(f"capacity.yaml: there is no row '{name}'.\n  Add it, with its source.")
    return found


class SeriesReservation(Row):
    """Availability of capacity reservations for a VM series."""

    series: Text
    reservable: Offered
    how: Literal["seen", "read", "believed"]
    source: Text
    date: datetime.date


@cache
def _reservations() -> dict[str, SeriesReservation]:
    rows = read_rows(DATA / "capacity_reservations.yaml")
    found = [row(SeriesReservation, each, f"capacity_reservations.yaml: {each.get('series')}") for each in rows]
    return {each.series: each for each in found}


def reservable(series: str) -> Offered:
    """Availability of capacity reservations for a VM series: `yes`, `no` or `unknown`.

    >>> reservable("NCadsA100v4"), reservable("NCadsH100v5"), reservable("NCdsRTXPRO6000BSEv6")
    ('yes', 'no', 'unknown')
    """
    found = _reservations().get(series)
    return found.reservable if found is not None else "unknown"
