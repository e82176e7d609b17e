"""Prices of the Azure services that a stack uses in addition to its nodes, as ranges with source and date."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.row import Row, Text

FILE = "service_prices.yaml"


class ServicePrice(Row):
    """Range of the price of one unit of a service, in USD."""

    name: Text
    per: Literal["GiB", "GB", "vCPU"] | None = None
    """Amount that the price is for; None for a whole service."""
    unit: Literal["hour", "month"]
    low: Annotated[float, Field(ge=0)]
    high: Annotated[float, Field(gt=0)]
    basis: Literal["listed", "estimate"]
    """`listed`: a source has the low figure. `estimate`: no source has it, and the range is wide."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def service_prices() -> dict[str, ServicePrice]:
    """All prices of services by name. Raises CatalogError."""
    found: dict[str, ServicePrice] = {}
    for data in read_rows(DATA / FILE):
        each = row(ServicePrice, data, f"{FILE}: {data.get('name')}")
        if each.name in found or each.low > each.high:
            raise CatalogError(f"{FILE}: {each.name} is a duplicate, or its low figure is above its high one")
        found[each.name] = each
    return found
