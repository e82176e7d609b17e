"""Reading of a cluster's evidence about one GPU machine. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import Json, at, name, time_of
from physical_ai.readiness.answers import is_forbidden
from physical_ai.readiness.events import OF_NODES, read_events
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.nodes.operands import failing
from physical_ai.readiness.nodes.signs import Alert, Seen, seen_in, unusual
from physical_ai.readiness.reader import Get, Missing, Unreachable
from workbench.health.acceptance import record as accepted
from workbench.health.evidence import record
from workbench.health.evidence.events import own_events
from workbench.health.evidence.node_evidence import NodeEvidence, gpu_work
from workbench.health.replacement import record as repaired

Item = TypeVar("Item")


class UnknownNode(Exception):
    """Error if neither a node nor a record of a machine has the requested name. `known`: names that exist."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(wanted)
        self.known = known


def machines(get: Get) -> list[record.Machine]:
    """The records of all machines, including machines that are gone. Raises the errors of the client `get`."""
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
    existing: bool = False,
    unread: Sequence[str] = (),
    since: datetime | None = None,
) -> NodeEvidence:
    """Evidence about a node, even one that has left the cluster; sends at most seven requests.

    The login must be allowed to read the node. Other evidence that the login may not read is listed in the result.

    Args:
        alerts: Alerts of a Prometheus about this node.
        metrics: Xids that a Prometheus has seen.
        gates: Closed gates of the cluster.
        existing: True if the stack did not create the cluster.
        unread: Texts about evidence that nobody requested from a Prometheus, or that the Prometheus did not give.
        since: Time before which events are left out, because they are about the machine before its repair.

    Raises:
        UnknownNode: there is neither such a node nor a record of it.
        Unreachable, Unusable: the API server does not answer, or refuses the node.
    """
    refused: list[str] = []

    def may(what: str, read: Callable[[], list[Item]]) -> list[Item]:
        try:
            return read()
        except Unreachable as refusal:
            if not is_forbidden(refusal):
                raise
            refused.append(f"{what} ({refusal})")
            return []

    node = _one(get, f"/api/v1/nodes/{wanted}")
    records = may("records of machines", lambda: machines(get))
    vm = str(at(node, "status.nodeInfo.systemUUID", "")) if node else ""
    machine = record.of_node(records, wanted, vm)
    if node is None and machine is None and not alerts and not metrics:
        known = [name(each) for each in _items(get, "/api/v1/nodes", {})]
        raise UnknownNode(wanted, sorted({*known, *(each.node for each in records)}))
    about = f"{OF_NODES},involvedObject.name={wanted}"
    events = own_events([dict(each) for each in read_events(get, "/api/v1/events", refused, about=about)], node)
    events = [each for each in events if since is None or _is_later(each, since)]
    on_node = {"fieldSelector": f"spec.nodeName={wanted}"}
    pods = may("Pods", lambda: _items(get, "/api/v1/pods", on_node)) if node else []
    results = may("results of acceptance", lambda: _acceptance(get, wanted))
    repairs = may("records of repairs", lambda: _repairs(get, wanted))
    return NodeEvidence(
        name=wanted,
        machine=machine,
        node=node,
        acceptance=next(iter(results), None),
        alerts=alerts,
        seen=[*seen_in(alerts, node, events), *metrics],
        conditions=unusual(node),
        events=events,
        work=gpu_work(pods),
        repairs=repairs,
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        gate=next((each for each in gates if each.node == wanted), None),
        operands=failing(pods),
        stack=stack,
        existing=existing,
        unread=tuple(dict.fromkeys((*unread, *refused))),
    )


def _is_later(event: Json, since: datetime) -> bool:
    """True for an event after `since`, and for one whose time cannot be read."""
    try:
        return datetime.fromisoformat(time_of(event)) >= since
    except (ValueError, TypeError):
        return True


def _acceptance(get: Get, node: str) -> list[accepted.NodeResult]:
    """The acceptance result of the node; empty if there is none that can be read."""
    path = f"/api/v1/namespaces/{accepted.NAMESPACE}/configmaps/{accepted.config_map_name(node)}"
    found = _one(get, path)
    try:
        return [accepted.read(found)] if found else []
    except accepted.Unreadable:
        return []


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
