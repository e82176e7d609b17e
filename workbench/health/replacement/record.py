"""Record of a node's repair, kept in a ConfigMap. The record outlives the node, and any computer can continue the
repair from it.

The ConfigMap `repair-<node>-<first 8 of its uid>` in NAMESPACE has the record as JSON under DATA_KEY, and the evidence
about the node under EVIDENCE_KEY. The uid is part of the name because AKS may give a new machine the name of an old
one.
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
"""Annotation of a node that a repair has cordoned. Its value is the name of the repair's ConfigMap."""
DATA_KEY, EVIDENCE_KEY = "repair.json", "evidence.json"
_TIMES, _LATER_TIMES = ("started", "deadline"), ("removed", "offered", "proven")
Action = Literal["replace", "reboot"]


class RepairStep(StrEnum):
    """Steps of a repair, in the order in which they run."""

    EVIDENCE = "evidence"
    CORDON = "cordon"
    DRAIN = "drain"
    REPORT = "report"
    REMOVE = "remove"
    """Step that deletes the machine, or restarts it."""
    RESTORE = "restore"
    """Step that restores the pool's number of nodes after a deletion. It does nothing after a restart."""
    AWAIT = "await"
    ACCEPT = "accept"
    UNCORDON = "uncordon"
    DONE = "done"


class Unreadable(ValueError):
    """Error for a ConfigMap that is not a record of a repair."""


@dataclass(frozen=True)
class Record:
    """Progress of the repair of one machine. `step` is the step to run next."""

    node: str
    node_uid: str
    boot_id: str
    """Id of the machine's last start before the repair. A restart changes the node's boot id."""
    pool: str
    provider_id: str
    """Kubernetes' id of the machine (`spec.providerID`); empty if a person has to restart or delete the machine."""
    action: Action
    started: datetime
    deadline: datetime
    """Time until which the drain waits for running work to finish."""
    reason: str = ""
    step: RepairStep = RepairStep.EVIDENCE
    level: AcceptanceLevel = "quick"
    """Level of acceptance that the node has to pass before it takes work: the level that its fault requires, or a
    higher level.
    """
    cordoned_before: bool = False
    """True if somebody had cordoned the node before the repair. The repair then leaves the node cordoned at its end."""
    nodes_before: int = 0
    """Number of nodes that the pool had in Azure before the machine was deleted."""
    uids_before: tuple[str, ...] = ()
    """Uids of the pool's Node objects before the machine was deleted."""
    removed: datetime | None = None
    """Time at which Azure, or a person, was asked to restart or delete the machine."""
    impact: str = ""
    """Name of the report to Azure; empty if none was sent."""
    new_node: str = ""
    new_uid: str = ""
    new_boot_id: str = ""
    """Boot id of the node that is being accepted. If the node restarts, it has to be accepted again."""
    offered: datetime | None = None
    """Time since which the new node offers its GPUs."""
    proven: datetime | None = None
    """Time at which the new node passed acceptance."""
    outcome: str = ""
    """Outcome of the repair; empty until the repair has ended."""
    earlier: int = 0
    """Number of repairs of the same machine before this one. Each repair has a record of its own."""

    def __post_init__(self) -> None:
        """Cuts times to whole seconds, the precision with which the ConfigMap stores them."""
        for key in (*_TIMES, *_LATER_TIMES):
            if time := getattr(self, key):
                object.__setattr__(self, key, time.replace(microsecond=0))

    @property
    def name(self) -> str:
        """Name of the record's ConfigMap."""
        first = f"repair-{self.node}-{self.node_uid[:8]}"
        return f"{first}-{self.earlier + 1}" if self.earlier else first

    @property
    def has_ended(self) -> bool:
        return self.step is RepairStep.DONE

    def at(self, step: RepairStep, **changes: Any) -> Record:
        """The record with `step` as its next step, and with other fields changed."""
        return replace(self, step=step, **changes)


def config_map(record: Record) -> dict[str, Any]:
    """The ConfigMap of a record. As a merge patch, it changes the record and keeps the stored evidence."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": record.name, "namespace": NAMESPACE, "labels": {REPAIR_LABEL: record.pool}},
        "data": {DATA_KEY: json.dumps(document(record), indent=2, sort_keys=True)},
    }


def document(record: Record) -> dict[str, Any]:
    """The record as JSON data, with times in UTC."""
    given = {key: getattr(record, key) for key in (*_TIMES, *_LATER_TIMES)}
    times = {key: each.astimezone(UTC).isoformat(timespec="seconds") if each else None for key, each in given.items()}
    return {**asdict(record), **times, "uids_before": list(record.uids_before)}


def read(config_map_object: Mapping[str, Any]) -> Record:
    """The record in a ConfigMap.

    Raises:
        Unreadable: the ConfigMap has no record, or a record of an unknown form.
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
