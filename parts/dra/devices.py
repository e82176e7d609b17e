"""GPUs as the DRA driver describes them."""

from __future__ import annotations

import datetime
from functools import lru_cache

from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text
from physical_ai.repository import PARTS

FILE = "parts/dra/claim_devices.yaml"


class ClaimDevice(Row):
    """A GPU as the DRA driver describes it in ResourceSlices."""

    model: Text
    product_name: Text
    architecture: Text
    compute_capability: Text
    memory_mib: int
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def claim_devices() -> dict[str, ClaimDevice]:
    """GPUs as the DRA driver describes them, by the model's name in the VM sizes."""
    found: dict[str, ClaimDevice] = {}
    for data in read_rows(PARTS.parent / FILE):
        item = row(ClaimDevice, data, f"{FILE}: {data.get('model')}")
        if item.model in found:
            raise CatalogError(f"{FILE}: {item.model} is a duplicate")
        found[item.model] = item
    return found
