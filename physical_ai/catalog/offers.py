"""Reading and writing of `seen_offers.yaml`: sizes, regions and prices that subscriptions were seen to offer."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from physical_ai.catalog.reading import CatalogError, read_mapping

FILE = Path(__file__).parent / "data" / "seen_offers.yaml"
KEYS = ("sizes", "regions", "listings", "prices")


@dataclass(frozen=True)
class Offers:
    """Rows of seen_offers.yaml, not checked yet."""

    sizes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    regions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    listings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    prices: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __bool__(self) -> bool:
        return any(getattr(self, key) for key in KEYS)

    def plus(self, other: Offers) -> Offers:
        return Offers(*(getattr(self, key) + getattr(other, key) for key in KEYS))


@lru_cache(maxsize=1)
def seen_offers() -> Offers:
    """Rows of seen_offers.yaml. Raises `CatalogError` if the file has an unknown key, or a key without a list."""
    given = read_mapping(FILE)
    if set(given) != set(KEYS) or not all(isinstance(given[key], list) for key in KEYS):
        raise CatalogError(f"{FILE.name}: the lists {', '.join(KEYS)} are expected, and nothing else.")
    return Offers(**given)


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes repeated values in full, so that a reader of a change has no aliases to look up."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def text_of(offers: Offers) -> str:
    """New text of `seen_offers.yaml`: the comment at the head of the present file, and then the rows of `offers`."""
    head = FILE.read_text(encoding="utf-8").partition("\nsizes:")[0]
    parts = [
        yaml.dump({key: getattr(offers, key)}, Dumper=_Dumper, sort_keys=False, width=150, default_flow_style=None)
        for key in KEYS
    ]
    return f"{head}\n{''.join(parts)}"


def write(offers: Offers) -> None:
    """Replaces `seen_offers.yaml` by a file with the rows of `offers`; if that fails, the old file stays. Raises
    OSError.
    """
    handle, draft = tempfile.mkstemp(dir=FILE.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text_of(offers))
        Path(draft).chmod(0o644)
        os.replace(draft, FILE)
    finally:
        Path(draft).unlink(missing_ok=True)
