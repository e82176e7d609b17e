"""Signs of a fault of a GPU node: alerts, Xids, conditions. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.catalog.own_names import GRID_DRIVER_READY
from physical_ai.kubernetes.objects import Json, at
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.nodes.xid_text import codes_in
from physical_ai.readiness.objects import pool_of

USUAL = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"})


NODE_LABELS = ("node", "Hostname", "hostname", "kubernetes_node", "nodename", "exported_node", "instance")
"""Labels in which alerts name a node, by the rules of this project and of others."""


@dataclass(frozen=True)
class Alert:
    """An alert of a Prometheus."""

    name: str
    labels: Mapping[str, str]
    summary: str = ""
    action: str = ""
    """Action that its rule advises."""
    runbook: str = ""

    def about(self, nodes: Container[str]) -> list[tuple[str, str]]:
        """Subjects of the alert: kind (`node`, `pod` or `cluster`) and name, each once, of the existing `nodes`."""
        found: list[tuple[str, str]] = []
        for key in NODE_LABELS:
            value = self.labels.get(key, "")
            host = value.partition(":")[0]
            if value and (key == "node" or host in nodes):
                found.append(("node", value if key == "node" else host))
        for prefix in ("exported_", ""):
            if pod := self.labels.get(f"{prefix}pod", ""):
                found.append(("pod", f"{self.labels.get(f'{prefix}namespace', '')}/{pod}"))
                break
        return list(dict.fromkeys(found)) or [("cluster", "")]

    def names(self) -> set[str]:
        """The names in its labels, by which it can be asked for: also of Jobs, and of objects that have left."""
        own = {value for key, value in self.labels.items() if key not in _NO_NAMES and value}
        where = self.labels.get("exported_namespace") or self.labels.get("namespace", "")
        return own | {f"{where}/{each}" for each in own if where}


_NO_NAMES = frozenset(
    {"alertname", "alertstate", "severity", "cluster", "job", "namespace", "exported_namespace", "container", "gpu"}
    | {"xid", "UUID", "resource", "health_watch", "owner", "team", "service", "endpoint", "prometheus", "reason"}
)
"""Labels whose values are no names of objects."""


@dataclass(frozen=True)
class Seen:
    """An Xid, and where it was seen: `alert`, `metric`, `condition` or `event`."""

    code: int
    source: str
    gpu: str = ""
    """UUID or number of the GPU; empty where it is not known."""
    when: str = ""
    index: str = ""
    """Number of the GPU, beside its UUID."""
    past: bool = False
    """True for a sign of something that may be over: it explains what is seen now, and is no fault of its own."""
    old: bool = False
    """True for a sign that is weeks old, and explains nothing any more."""


_MEANS_WELL = ("Ready", GRID_DRIVER_READY, ACCEPTED_CONDITION)
MEANS_WELL = re.compile(r"(?<!Not)(?<!Un)(Ready|Healthy|Available|Accepted|Succeeded|Initialized|Passed|Reachable|OK)$")
"""Types of other conditions that should be True; of all else True means that something is wrong."""


@dataclass(frozen=True)
class NodeSigns:
    """Facts about one node. `node` is None where it has left the cluster."""

    name: str
    node: Json | None = None
    gate: ClosedGate | None = None
    """First closed gate of a node of a GPU pool."""
    alerts: Sequence[Alert] = ()
    """Firing alerts about it."""
    seen: Sequence[Seen] = ()
    """Xids."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The record of its machine."""
    failed_checks: Sequence[tuple[str, str]] = ()
    """Checks of acceptance that it did not pass, and their messages."""
    restarted: bool = False
    """True where a repair has restarted the machine lately, so that another restart is no remedy."""
    operands: Sequence[tuple[str, str, str]] = ()
    """Pods of the GPU stack on it that fail: DaemonSet, name, and what their container says."""
    stack: str = "STACK"
    existing: bool = False
    """True for a server of an existing cluster, which no command restarts or deletes."""

    @property
    def pool(self) -> str:
        return pool_of(self.node) if self.node is not None else ""


def seen_in(alerts: Iterable[Alert], node: Json | None, events: Iterable[Json]) -> list[Seen]:
    """The Xids in alerts, conditions and events, each code and source once."""
    found: dict[tuple[int, str], Seen] = {}
    for alert in alerts:
        code = alert.labels.get("xid", "")
        if code.isdigit():
            gpu = alert.labels.get("UUID") or alert.labels.get("gpu", "")
            number = alert.labels.get("gpu", "")
            found.setdefault((int(code), "alert"), Seen(int(code), "alert", gpu, index=number))
    conditions: list[Json] = at(node, "status.conditions", []) if node else []
    for each in conditions:
        if each.get("status") == "True" and each.get("type") not in USUAL:
            text = f"{each.get('type', '')} {each.get('reason', '')} {each.get('message', '')}"
            for code in codes_in(text):
                when = str(each.get("lastTransitionTime", ""))
                found.setdefault((code, "condition"), Seen(code, "condition", when=when))
    for each in events:
        for code in codes_in(f"{each.get('reason', '')} {each.get('message', '')}"):
            when = str(each.get("firstTimestamp") or at(each, "metadata.creationTimestamp", ""))
            found.setdefault((code, "event"), Seen(code, "event", when=when))
    return list(found.values())


def unusual(node: Json | None) -> list[Json]:
    """Conditions that say that something is wrong, or that their monitor does not know."""
    found: list[Json] = at(node, "status.conditions", []) if node else []
    return [each for each in found if _is_wrong(each) or is_not_known(each)]


def is_not_known(condition: Json) -> bool:
    """True where a monitor could not determine a fault. The kubelet's own conditions are Unknown once it is silent, as
    Ready reports.
    """
    kind = str(condition.get("type", ""))
    return condition.get("status") not in ("True", "False") and kind not in USUAL and not _means_well(kind)


def _is_wrong(condition: Json) -> bool:
    kind, status = str(condition.get("type", "")), condition.get("status")
    return status != "True" if _means_well(kind) else status == "True"


def _means_well(kind: str) -> bool:
    return kind in _MEANS_WELL or bool(MEANS_WELL.search(kind))
