"""Facts of Azure that the deployed program assumes, too, here from independent sources (`own_facts.json`).

Program and simulator may both be wrong, but not through a shared constant: what the program sends is checked against
these. From the catalogue both read only hardware, Azure's offers, and the shape of data; a test lists what is shared.
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
"""Labels without a reserved prefix that AKS sets itself, and that nobody else may."""
_SPOT_KEY = _text("SPOT_KEY")
SPOT_LABEL = (_SPOT_KEY, "spot")
SPOT_TAINT = f"{_SPOT_KEY}=spot:NoSchedule"
VAULT_ADDON = _text("VAULT_ADDON")
GATEWAY_SUBNET, RESOLVER_DELEGATION = _text("GATEWAY_SUBNET"), _text("RESOLVER_DELEGATION")
POSTGRES_TIERS: Mapping[str, str] = facts()["POSTGRES_TIERS"].value
"""Tier by the letter of a compute size."""
POSTGRES_VERSIONS = tuple[str, ...](facts()["POSTGRES_VERSIONS"].value)
"""Major versions of which new servers are made."""
POSTGRES_SIZES = frozenset[str](facts()["POSTGRES_SIZES"].value)
"""Compute sizes up to the fifth generation."""
SERVER_ID = _text("SERVER_ID")
"""Entra application of every AKS API server, which tokens are issued for."""
TOKEN_AUDIENCE = _text("TOKEN_AUDIENCE")
"""Audience of the token that a Pod exchanges for one of its identity."""
SECRETS_DRIVER = _text("SECRETS_DRIVER")
SECRETS_API_VERSION, SECRETS_KIND, SECRETS_PLURAL = (str(part) for part in facts()["SECRETS_API"].value)
"""The add-on that mounts secrets of a vault: its driver, and the API of its classes."""
DISK_DRIVER = _text("DISK_DRIVER")
SNAPSHOT_API, SNAPSHOT_VERSION = (str(part) for part in facts()["SNAPSHOT_API"].value)
"""Driver of AKS' disks, and the API group and version of snapshots."""
