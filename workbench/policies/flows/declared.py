"""The flows of `declared.yaml`, and the endpoints of these flows (the file's `parties`), as typed objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from itertools import product
from typing import Any

from physical_ai import safe_yaml
from workbench.policies.flows.parties import Address, Entity, Party, Pod


class Required(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    TOLERATED = "tolerated"
    """Value for a flow that is open, although it should be closed. `Flow.instead` says what protects the flow's
    target.
    """
    ASKED = "not declared"
    """Value for a flow that a user asks about, and that `declared.yaml` does not have."""


@dataclass(frozen=True)
class Flow:
    source: str
    target: str
    ports: tuple[int, ...]
    """Ports of the flow. Empty for `ports: service`: the ports then follow from the load balancer or Azure service."""
    protocol: str
    must: Required
    why: str
    instead: str = ""
    where: str = ""
    """Condition under which the flow exists; empty for a flow that always exists. `isolated`: policies deny every
    connection to the target that they do not explicitly allow. `scraped`: a monitor of the stack names the target's
    Pods.
    """

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


_FILE: Mapping[str, Any] = safe_yaml.load(
    files("workbench.policies.flows").joinpath("declared.yaml").read_text(encoding="utf-8")
)
EVERYWHERE = frozenset(
    name for name, row in _FILE["parties"].items() if row.get("everywhere") or "namespace" not in row
)
"""Names of the flow endpoints that exist in every stack: those without a namespace, and those with `everywhere`."""
DECLARED = frozenset(name for name, row in _FILE["parties"].items() if row.get("declared"))
"""Names of the flow endpoints that a stack has only if it declares their workload itself."""
BESIDE: Mapping[str, str] = {name: row["beside"] for name, row in _FILE["parties"].items() if "beside" in row}
"""Namespace of the software that creates the namespace of a flow endpoint, by the endpoint's name."""


def _party(row: Mapping[str, Any]) -> Party:
    if "entity" in row:
        return Entity(row["entity"])
    if "address" in row:
        return Address(row["address"])
    return Pod(row["namespace"], row.get("labels") or {}, row.get("ports") or {})


def _flows(row: Mapping[str, Any]) -> Iterator[Flow]:
    """The flows of a row of `declared.yaml`: one for each combination of source, target and protocol."""
    ports: Sequence[int] = () if row["ports"] == "service" else row["ports"]
    for source, target, protocol in product(*(_listed(row.get(key, "TCP")) for key in ("from", "to", "protocol"))):
        yield Flow(
            source,
            target,
            tuple(ports),
            protocol,
            Required(row["must"]),
            row["why"],
            row.get("instead", ""),
            row.get("where", ""),
        )


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


PARTIES: Mapping[str, Party] = {name: _party(row) for name, row in _FILE["parties"].items()}
MADE_BY: Mapping[str, str] = {_FILE["parties"][name]["namespace"]: beside for name, beside in BESIDE.items()}
"""Namespaces that software of another namespace creates. Keys are the created namespaces, and values are the namespaces
of the software.
"""
FLOWS: tuple[Flow, ...] = tuple(flow for row in _FILE["flows"] for flow in _flows(row))
