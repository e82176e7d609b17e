"""Reads what a cluster knows of one GPU machine. It writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.health.acceptance import record as accepted
from physical_ai.health.evidence import record
from physical_ai.health.evidence.events import own_events
from physical_ai.health.evidence.node_evidence import NodeEvidence, gpu_work
from physical_ai.health.replacement import record as repaired
from physical_ai.kubernetes.objects import Json, at, name
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.nodes.operands import failing
from physical_ai.readiness.nodes.signs import Alert, Seen, seen_in, unusual
from physical_ai.readiness.reader import Get, Missing


class UnknownNode(Exception):
    """Neither a node nor a record of a machine has the name; `known` are names that exist."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(wanted)
        self.known = known


def machines(get: Get) -> list[record.Machine]:
    """The records of all machines, those that are gone included. Raises as `get` does."""
    path = f"/api/v1/namespaces/{record.NAMESPACE}/configmaps"
    return [record.read(each) for each in _items(get, path, {"labelSelector": record.LABEL})]


def read_node_evidence(
    get: Get,
    wanted: str,
    alerts: Sequence[Alert] = (),
    metrics: Sequence[Seen] = (),
    *,
    gates: Sequence[ClosedGate] = (),
    stack: str = "STACK",
    unread: Sequence[str] = (),
) -> NodeEvidence:
    """What is known of a node, also of one that has left the cluster: at most seven requests.

    Args:
        alerts: Of a Prometheus, about this node.
        metrics: Xids that a Prometheus has seen.
        gates: Closed gates of the cluster.
        unread: What a Prometheus was not asked for, or did not answer.

    Raises:
        UnknownNode
        Unreachable, Unusable: as `get` does.
    """
    node = _one(get, f"/api/v1/nodes/{wanted}")
    records = machines(get)
    vm = str(at(node, "status.nodeInfo.systemUUID", "")) if node else ""
    machine = record.of_node(records, wanted, vm)
    if node is None and machine is None and not alerts and not metrics:
        known = [name(each) for each in _items(get, "/api/v1/nodes", {})]
        raise UnknownNode(wanted, sorted({*known, *(each.node for each in records)}))
    about = f"involvedObject.kind=Node,involvedObject.name={wanted}"
    events = own_events(_items(get, "/api/v1/events", {"fieldSelector": about}), wanted, node)
    pods = _items(get, "/api/v1/pods", {"fieldSelector": f"spec.nodeName={wanted}"}) if node else []
    return NodeEvidence(
        name=wanted,
        machine=machine,
        node=node,
        acceptance=_acceptance(get, wanted),
        alerts=alerts,
        seen=[*seen_in(alerts, node, events), *metrics],
        conditions=unusual(node),
        events=events,
        work=gpu_work(pods),
        repairs=_repairs(get, wanted),
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        gate=next((each for each in gates if each.node == wanted), None),
        operands=failing(pods),
        stack=stack,
        unread=unread,
    )


def _acceptance(get: Get, node: str) -> accepted.NodeResult | None:
    path = f"/api/v1/namespaces/{accepted.NAMESPACE}/configmaps/{accepted.config_map_name(node)}"
    found = _one(get, path)
    try:
        return accepted.read(found) if found else None
    except accepted.Unreadable:
        return None


def _repairs(get: Get, node: str) -> list[repaired.Record]:
    path = f"/api/v1/namespaces/{repaired.NAMESPACE}/configmaps"
    found: list[repaired.Record] = []
    for each in _items(get, path, {"labelSelector": REPAIR_LABEL}):
        try:
            repair = repaired.read(each)
        except repaired.Unreadable:
            continue
        if node in (repair.node, repair.new_node):
            found.append(repair)
    return sorted(found, key=lambda each: each.started)


def _one(get: Get, path: str) -> Json | None:
    try:
        return dict(get(path, {}))
    except Missing:
        return None


def _items(get: Get, path: str, parameters: Mapping[str, str]) -> list[Json]:
    return list(get(path, parameters).get("items") or [])
