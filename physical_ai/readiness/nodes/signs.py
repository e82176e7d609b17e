"""Signs of faults on a GPU node: alerts, Xids, conditions. Pure functions."""

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
"""Labels in which alerts name a node, in rules of this project and of others."""


@dataclass(frozen=True)
class Alert:
    """A firing alert of a Prometheus."""

    name: str
    labels: Mapping[str, str]
    summary: str = ""
    action: str = ""
    """Action that the alert's rule advises."""
    runbook: str = ""

    def about(self, nodes: Container[str]) -> list[tuple[str, str]]:
        """Kind (`node`, `pod` or `cluster`) and name of each object that the alert is about.

        `nodes` are the names of existing nodes.
        """
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
        """Names of objects in the alert's labels, also as NAMESPACE/NAME. Users can ask about these names, even if they
        are names of Jobs or of objects that have left the cluster.
        """
        own = {value for key, value in self.labels.items() if key not in _NO_NAMES and value}
        where = self.labels.get("exported_namespace") or self.labels.get("namespace", "")
        return own | {f"{where}/{each}" for each in own if where}


_NO_NAMES = frozenset(
    {"alertname", "alertstate", "severity", "cluster", "job", "namespace", "exported_namespace", "container", "gpu"}
    | {"xid", "UUID", "resource", "health_watch", "owner", "team", "service", "endpoint", "prometheus", "reason"}
)
"""Labels whose values are not names of objects."""


@dataclass(frozen=True)
class Seen:
    """An Xid, and where it was seen: in an `alert`, `metric`, `condition` or `event`."""

    code: int
    source: str
    gpu: str = ""
    """UUID or number of the GPU; empty where it is not known."""
    when: str = ""
    index: str = ""
    """Number of the GPU in addition to `gpu`, which may be the GPU's UUID; empty if the number is not known."""
    past: bool = False
    """True for an Xid that may be over. It can explain present signs, but is not reported as a fault of its own."""
    old: bool = False
    """True for a sign that is weeks old and no longer explains anything."""


_MEANS_WELL = ("Ready", GRID_DRIVER_READY, ACCEPTED_CONDITION)
MEANS_WELL = re.compile(r"(?<!Not)(?<!Un)(Ready|Healthy|Available|Accepted|Succeeded|Initialized|Passed|Reachable|OK)$")
"""Expression for condition types, apart from Kubernetes' own, that should be True; all other types report a problem
when True.
"""


@dataclass(frozen=True)
class NodeSigns:
    """Facts about one node. `node` is None for a node that has left the cluster."""

    name: str
    node: Json | None = None
    gate: ClosedGate | None = None
    """First closed gate of the node; None if all its gates are open, or if the node is in no GPU pool."""
    alerts: Sequence[Alert] = ()
    """Firing alerts about the node."""
    seen: Sequence[Seen] = ()
    """Xids that were seen on the node."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Record of the node's machine."""
    failed_checks: Sequence[tuple[str, str]] = ()
    """Acceptance checks that the node did not pass, with their messages."""
    restarted: bool = False
    """True where a repair has recently restarted the machine, so that another restart is no remedy."""
    operands: Sequence[tuple[str, str, str]] = ()
    """Failing Pods of the GPU stack on the node: DaemonSet, name, and message of the container."""
    stack: str = "STACK"
    existing: bool = False
    """True for a server of an existing cluster, which no command restarts or deletes."""

    @property
    def pool(self) -> str:
        return pool_of(self.node) if self.node is not None else ""


def seen_in(alerts: Iterable[Alert], node: Json | None, events: Iterable[Json]) -> list[Seen]:
    """Xids in alerts, conditions and events; each pair of code and source once."""
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
    """Conditions of a node that report a problem, or whose monitor does not know."""
    conditions: list[Json] = at(node, "status.conditions", []) if node else []
    return [each for each in conditions if _is_wrong(each) or is_not_known(each)]


def is_not_known(condition: Json) -> bool:
    """True for a condition whose monitor could not determine whether there is a fault.

    Conditions of the kubelet do not count: they become Unknown when the kubelet stops reporting, and the condition
    Ready shows that already.
    """
    kind = str(condition.get("type", ""))
    return condition.get("status") not in ("True", "False") and kind not in USUAL and not _means_well(kind)


def _is_wrong(condition: Json) -> bool:
    kind, status = str(condition.get("type", "")), condition.get("status")
    return status != "True" if _means_well(kind) else status == "True"


def _means_well(kind: str) -> bool:
    return kind in _MEANS_WELL or bool(MEANS_WELL.search(kind))
