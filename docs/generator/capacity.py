"""The tables of docs/capacity.md, generated from the catalogue's limits."""

from __future__ import annotations

from docs.generator.markdown import marked_part, table
from physical_ai.catalog.capacity import CAPACITY_SOURCE, CapacityLimit, capacity_limits
from physical_ai.repository import DOCS

FILE = DOCS / "capacity.md"
BEGIN = f"<!-- from {CAPACITY_SOURCE}: python -m docs.generator -->"
KNOWN = {"read": "read in", "reported": "reported in", "believed": "concluded from"}


def renewed() -> str:
    """Text of the page with the current table. Raises ValueError where the page does not contain its marks."""
    return marked_part(FILE, BEGIN, table(("wish", "limit", "what to do", "source"), map(_row, capacity_limits())))


def _row(limit: CapacityLimit) -> tuple[str, ...]:
    return limit.what, limit.says, limit.instead, f"{KNOWN[limit.how]} {limit.source}; {limit.date}"
