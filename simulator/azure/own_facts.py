"""Facts about Azure that the simulator collects from sources of its own (`own_facts.json`).

The deployed program has its own constants for the same facts. The simulator checks the program's requests against
`own_facts.json`, so a wrong constant in the program is noticed. Both sides share only the catalogue's tables of
hardware, Azure's offers and data formats; a test lists the shared tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from simulator.azure.data import load_json


@dataclass(frozen=True)
class Fact:
    """One fact about Azure, its source, and how it is known."""

    name: str
    value: Any
    source: str
    how: Literal["seen", "read", "believed"]
    date: str


@cache
def facts() -> Mapping[str, Fact]:
    """The facts by name."""
    return {row["name"]: Fact(**row) for row in load_json("own_facts.json")}


def _text(name: str) -> str:
    return str(facts()[name].value)


POOL_LABEL, SHORT_POOL_LABEL, IMAGE_LABEL = (_text(name) for name in ("POOL_LABEL", "SHORT_POOL_LABEL", "IMAGE_LABEL"))
SET_BY_AKS = frozenset[str](facts()["SET_BY_AKS"].value)
"""Labels without a reserved prefix that AKS sets itself and that no request may set."""
_SPOT_KEY = _text("SPOT_KEY")
SPOT_LABEL = (_SPOT_KEY, "spot")
SPOT_TAINT = f"{_SPOT_KEY}=spot:NoSchedule"
VAULT_ADDON = _text("VAULT_ADDON")
GATEWAY_SUBNET, RESOLVER_DELEGATION = _text("GATEWAY_SUBNET"), _text("RESOLVER_DELEGATION")
POSTGRES_TIERS: Mapping[str, str] = facts()["POSTGRES_TIERS"].value
"""Tiers of PostgreSQL servers, by the letter in the name of a compute size."""
POSTGRES_VERSIONS = tuple[str, ...](facts()["POSTGRES_VERSIONS"].value)
"""Major versions of PostgreSQL with which Azure creates new servers."""
POSTGRES_SIZES = frozenset[str](facts()["POSTGRES_SIZES"].value)
"""Compute sizes of PostgreSQL servers up to the fifth generation."""
NOT_RESERVABLE = frozenset[str](facts()["NOT_RESERVABLE"].value)
"""VM sizes of which Azure makes no capacity reservations."""
SERVER_ID = _text("SERVER_ID")
"""Id of the Entra application of all AKS API servers; tokens for an API server are issued for it."""
TOKEN_AUDIENCE = _text("TOKEN_AUDIENCE")
"""Audience of the service account token that a Pod exchanges for an Entra token of its managed identity."""
SECRETS_DRIVER = _text("SECRETS_DRIVER")
SECRETS_API_VERSION, SECRETS_KIND, SECRETS_PLURAL = (str(part) for part in facts()["SECRETS_API"].value)
"""API version, kind and plural of the objects that tell the Secrets Store add-on which secrets of a key vault to mount.
`SECRETS_DRIVER` is the add-on's CSI driver.
"""
DISK_DRIVER = _text("DISK_DRIVER")
SNAPSHOT_API, SNAPSHOT_VERSION = (str(part) for part in facts()["SNAPSHOT_API"].value)
"""API group and version of volume snapshots. `DISK_DRIVER` is the CSI driver of AKS's disks."""
