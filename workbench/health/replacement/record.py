"""Progress of a node's repair, kept in a ConfigMap, so that it outlives the node and any machine can continue the
repair.

The ConfigMap `repair-<node>-<first 8 of its uid>` in NAMESPACE has the record as JSON under DATA_KEY, and under
EVIDENCE_KEY the evidence about the node. The uid is part of the name because AKS may give a new machine the name of an
old one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from physical_ai.catalog.acceptance import AcceptanceLevel
from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.nested import at

NAMESPACE = "gpu-operator"
ANNOTATION = REPAIR_LABEL
"""Annotation of a node that a repair has cordoned: the name of the ConfigMap."""
DATA_KEY, EVIDENCE_KEY = "repair.json", "evidence.json"
_TIMES, _LATER_TIMES = ("started", "deadline"), ("removed", "offered", "proven")
Action = Literal["replace", "reboot"]


class RepairStep(StrEnum):
    """Next step of a repair; the steps are run in this order."""

    EVIDENCE = "evidence"
    CORDON = "cordon"
    DRAIN = "drain"
    REPORT = "report"
    REMOVE = "remove"
    """Delete the machine, or restart it."""
    RESTORE = "restore"
    """Bring the pool back to its number of nodes; nothing for a restart."""
    AWAIT = "await"
    ACCEPT = "accept"
    UNCORDON = "uncordon"
    DONE = "done"


class Unreadable(ValueError):
    """Error for a ConfigMap that is not a record of a repair."""


@dataclass(frozen=True)
class Record:
    """The repair of one machine."""

    node: str
    node_uid: str
    boot_id: str
    """Id of the start before the repair: after a restart it is another."""
    pool: str
    provider_id: str
    """Id of a machine that Azure restarts and deletes; empty where a person has to."""
    action: Action
    started: datetime
    deadline: datetime
    """Time until which the drain waits for work to end."""
    reason: str = ""
    step: RepairStep = RepairStep.EVIDENCE
    level: AcceptanceLevel = "quick"
    """Level of the acceptance that the node has to pass before it takes work: the one for its fault, or a higher
    one."""
    cordoned_before: bool = False
    """True where another user had cordoned the node: after the repair it stays cordoned."""
    nodes_before: int = 0
    """Nodes that Azure ran for the pool before the machine was deleted."""
    uids_before: tuple[str, ...] = ()
    """Uids of the pool's Node objects before the machine was deleted."""
    removed: datetime | None = None
    """Time at which Azure, or a person, was asked to restart or delete the machine."""
    impact: str = ""
    """Name of the report to Azure; empty without one."""
    new_node: str = ""
    new_uid: str = ""
    new_boot_id: str = ""
    """Id of the start that is being accepted: another start has to be accepted again."""
    offered: datetime | None = None
    """Time at which the new node offered its GPUs."""
    proven: datetime | None = None
    """Time at which it passed acceptance."""
    outcome: str = ""
    """Outcome of the repair; empty as long as it has not ended."""
    earlier: int = 0
    """Repairs of the same machine before this one: each keeps its record."""

    def __post_init__(self) -> None:
        """Cuts times to whole seconds, as they are stored, so that a record equals the one that is read back."""
        for key in (*_TIMES, *_LATER_TIMES):
            if time := getattr(self, key):
                object.__setattr__(self, key, time.replace(microsecond=0))

    @property
    def name(self) -> str:
        """Name of the ConfigMap."""
        first = f"repair-{self.node}-{self.node_uid[:8]}"
        return f"{first}-{self.earlier + 1}" if self.earlier else first

    @property
    def has_ended(self) -> bool:
        return self.step is RepairStep.DONE

    def at(self, step: RepairStep, **changes: Any) -> Record:
        """The record with another next step, and other changes."""
        return replace(self, step=step, **changes)


def config_map(record: Record) -> dict[str, Any]:
    """The ConfigMap of a new record; as a merge patch, it changes the record and keeps the evidence."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": record.name, "namespace": NAMESPACE, "labels": {REPAIR_LABEL: record.pool}},
        "data": {DATA_KEY: json.dumps(document(record), indent=2, sort_keys=True)},
    }


def document(record: Record) -> dict[str, Any]:
    """The record as JSON, times in UTC."""
    given = {key: getattr(record, key) for key in (*_TIMES, *_LATER_TIMES)}
    times = {key: each.astimezone(UTC).isoformat(timespec="seconds") if each else None for key, each in given.items()}
    return {**asdict(record), **times, "uids_before": list(record.uids_before)}


def read(config_map_object: Mapping[str, Any]) -> Record:
    """The record in a ConfigMap.

    Raises:
        Unreadable: the ConfigMap has no record, or one of an unknown form.
    """
    try:
        found: dict[str, Any] = json.loads(config_map_object["data"][DATA_KEY])
        found |= {key: datetime.fromisoformat(found[key]) for key in _TIMES}
        found |= {key: datetime.fromisoformat(found[key]) for key in _LATER_TIMES if found.get(key)}
        found |= {"step": RepairStep(found["step"]), "uids_before": tuple(found["uids_before"])}
        return Record(**found)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        name = at(config_map_object, "metadata.name", "")
        raise Unreadable(f"ConfigMap {NAMESPACE}/{name} is not a record of a repair: {problem}") from problem
