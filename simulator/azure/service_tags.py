"""Service tags, which security rules may name in the place of addresses: the simulator's own table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from simulator.azure.data import load_json


@cache
def _regional() -> Mapping[str, bool]:
    """Service tags in lower case, each with True if a region may follow it."""
    rows: dict[str, dict[str, Any]] = load_json("service_tags.json")
    return {name.lower(): bool(row["regional"]) for name, row in rows.items()}


def is_tag(text: str) -> bool:
    """True for a known tag, alone or with a region, as `Storage.WestUS2`."""
    name, _, region = text.lower().partition(".")
    return text.lower() in _regional() or (_regional().get(name, False) and region.isalnum())
