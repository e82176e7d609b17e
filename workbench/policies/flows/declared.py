"""The flows of `declared.yaml`, as typed objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

from physical_ai import safe_yaml
from workbench.policies.flows.parties import Address, Entity, Party, Pod


class Required(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    TOLERATED = "tolerated"
    """Open, although it should not be; `Flow.instead` protects it."""
    ASKED = "not declared"
    """Value for a flow that is not declared, and that somebody asks about."""


@dataclass(frozen=True)
class Flow:
    source: str
    target: str
    ports: tuple[int, ...]
    """Ports of the flow; empty: those of the load balancer, or of Azure's service."""
    protocol: str
    must: Required
    why: str
    instead: str = ""
    where: str = ""
    """`isolated`: only while the target's namespace denies what is not named; `scraped`: while a monitor names it."""

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


_FILE: Mapping[str, Any] = safe_yaml.load(
    files("workbench.policies.flows").joinpath("declared.yaml").read_text(encoding="utf-8")
)
EVERYWHERE = frozenset(
    name for name, row in _FILE["parties"].items() if row.get("everywhere") or "namespace" not in row
)
"""Parties outside of the program's namespaces, which every stack has."""
DECLARED = frozenset(name for name, row in _FILE["parties"].items() if row.get("declared"))
"""Parties of which the program declares the workload itself: only stacks with that workload have them."""
BESIDE: Mapping[str, str] = {name: row["beside"] for name, row in _FILE["parties"].items() if "beside" in row}
"""Namespaces of the program whose workloads make a party's own one."""


def _party(row: Mapping[str, Any]) -> Party:
    if "entity" in row:
        return Entity(row["entity"])
    if "address" in row:
        return Address(row["address"])
    return Pod(row["namespace"], row.get("labels") or {}, row.get("ports") or {})


def _flow(row: Mapping[str, Any]) -> Flow:
    ports: Sequence[int] = () if row["ports"] == "service" else row["ports"]
    return Flow(
        row["from"],
        row["to"],
        tuple(ports),
        row.get("protocol", "TCP"),
        Required(row["must"]),
        row["why"],
        row.get("instead", ""),
        row.get("where", ""),
    )


PARTIES: Mapping[str, Party] = {name: _party(row) for name, row in _FILE["parties"].items()}
FLOWS: tuple[Flow, ...] = tuple(_flow(row) for row in _FILE["flows"])
