"""The faults that can be injected, as described in `data/faults.yaml`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from physical_ai import safe_yaml
from simulator.errors import SimulationError

DESCRIPTION = ("name", "summary", "where", "drivers", "needs", "alerts", "conditions", "ends", "over")
DATA = Path(__file__).parent / "data" / "faults.yaml"


@dataclass(frozen=True)
class Effects:
    """Effects of a fault; `data/faults.yaml` explains each field."""

    fields: Mapping[str, float] = field(default_factory=dict[str, float])
    rates: Mapping[str, float] = field(default_factory=dict[str, float])
    port_rates: Mapping[str, float] = field(default_factory=dict[str, float])
    xid: int = 0
    health: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unhealthy: bool = False
    lost: bool = False
    broken: Mapping[str, str] = field(default_factory=dict[str, str])
    driver_lost: bool = False
    unlicensed: bool = False
    not_ready: str = ""
    taint: Mapping[str, str] = field(default_factory=dict[str, str])
    reboots: bool = False
    idle_job: bool = False


@dataclass(frozen=True)
class Fault:
    """One fault of `data/faults.yaml`."""

    name: str
    summary: str
    where: Literal["gpu", "node"]
    drivers: tuple[str, ...]
    """Driver sources of the node pools on which the fault can happen; empty for all pools."""
    needs: Literal["", "infiniband"]
    """Hardware that a node must have for the fault to happen on it; empty if any node will do."""
    alerts: tuple[str, ...]
    effects: Effects
    ends: frozenset[str] = frozenset()
    """Events that end the fault, in the terms of `data/faults.yaml`."""
    conditions: tuple[str, ...] = ()
    """Node conditions that the fault causes. A condition that a health monitor sets appears only if the stack has that
    monitor.
    """
    over: frozenset[str] = frozenset()
    """Events that end the fault's cause. After such an event, the GPU stays out of service until the device plugin
    starts again.
    """

    @property
    def needs_reset(self) -> bool:
        """True if the fault is in a GPU and the end of a job does not end it: the GPU works again only after a GPU
        reset or a replacement.
        """
        return self.where == "gpu" and "job" not in self.ends | self.over


class UnknownFault(SimulationError):
    """Error if there is no fault of this name."""


@cache
def faults() -> dict[str, Fault]:
    """All faults of `data/faults.yaml` by name, in the order of the file."""
    rows: list[dict[str, Any]] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return {row["name"]: _fault(row) for row in rows}


def fault(name: str) -> Fault:
    """The fault of this name.

    Raises:
        UnknownFault: there is no such fault; the text has the nearest names.
    """
    if name in faults():
        return faults()[name]
    near = difflib.get_close_matches(name, faults(), n=2)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise UnknownFault(f"there is no fault {name!r}. {hint}`physai fault list` shows all faults.")


def _fault(row: Mapping[str, Any]) -> Fault:
    effects = {_snake(key): value for key, value in row.items() if key not in DESCRIPTION}
    own = tuple(row.get("drivers", ()))
    ends, over = (frozenset(row.get(each, ())) for each in ("ends", "over"))
    return Fault(
        name=row["name"],
        summary=row["summary"],
        where=row["where"],
        drivers=own,
        needs=row.get("needs", ""),
        alerts=tuple(row["alerts"]),
        effects=Effects(**effects),
        ends=ends,
        conditions=tuple(row.get("conditions", ())),
        over=over,
    )


def _snake(key: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in key)
