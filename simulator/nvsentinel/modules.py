"""Simulation of fault-quarantine and node-drainer. `quarantine` and `drain` make the decisions; this module carries the
decisions out with the same writes as the real modules.
"""

from __future__ import annotations

import datetime
import logging
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulator.cluster.objects import Changes, Json, annotations_of, at, labels, name
from simulator.kubernetes.client import JSON, MERGE_PATCH
from simulator.nvsentinel import drain as draining
from simulator.nvsentinel.events import HealthEvent
from simulator.nvsentinel.names import (
    BREAKER_CONFIG_MAP,
    FAULT_QUARANTINE,
    NAMESPACE,
    NODE_DRAINER,
    QUARANTINE_ANNOTATION,
)
from simulator.nvsentinel.quarantine import (
    BY_HAND_ANNOTATION,
    CORDONED_ANNOTATION,
    SERVICE,
    STATE_LABEL,
    Config,
    Decision,
    Quarantine,
    annotation,
    tracked,
)

log = logging.getLogger("nvsentinel")
TRIPPED, CLOSED = "TRIPPED", "CLOSED"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
_RELEASED: Changes = {QUARANTINE_ANNOTATION: None, CORDONED_ANNOTATION: None}


class Cluster(Protocol):
    """Interface of the cluster for fault-quarantine and node-drainer. Each write has the rights of a
    service account.
    """

    def now(self) -> float: ...
    def find(self, path: str) -> Json | None: ...
    def nodes(self) -> list[Json]: ...
    def pods(self, node: str) -> list[Json]: ...
    def config(self, module: str) -> dict[str, Any]: ...
    def write(self, node: Json, account: str, body: Json, sub: str = "") -> bool: ...
    def attempt(self, account: str, method: str, path: str, body: Json, kind: str = JSON) -> Json | None: ...
    def say(self, node: str, account: str, reason: str, message: str, kind: str) -> None: ...


@dataclass
class Store:
    """The datastore through which the modules pass events to each other."""

    queue: list[HealthEvent] = field(default_factory=list[HealthEvent])
    """Events that fault-quarantine has not handled."""
    quarantined: dict[str, float] = field(default_factory=dict[str, float])
    """Nodes that fault-quarantine has cordoned. Values: time of the cordon in seconds since the epoch."""


class FaultQuarantine:
    """Simulation of fault-quarantine, which handles one event after another. When fault-quarantine gets a new Pod, the
    memory of the old Pod's process is lost.
    """

    def __init__(self, cluster: Cluster, store: Store) -> None:
        self._cluster, self._store = cluster, store
        self._pod = ""
        self._module = Quarantine(Config(()))

    def run(self, pod: str) -> None:
        """Handles the queued events as the process in the Pod named `pod`."""
        if pod != self._pod:
            self._begin(pod)
        self._released_by_hand()
        module, (label, value) = self._module, self._module.config.gpu_node_label
        while self._store.queue and not module.tripped:
            event = self._store.queue[0]
            node = next((each for each in self._cluster.nodes() if name(each) == event.node), None)
            counted = sum(labels(each).get(label) == value for each in self._cluster.nodes())
            if node is not None and counted:
                self._carry_out(module.decide(event, node, counted, self._cluster.now()), node)
            if module.tripped:
                log.warning("the circuit breaker has tripped; %d events wait", len(self._store.queue))
                self._breaker(TRIPPED)
            else:
                self._store.queue.pop(0)

    def _begin(self, pod: str) -> None:
        found = self._cluster.find(f"{CONFIG_MAPS}/{BREAKER_CONFIG_MAP}")
        config = Config.of(self._cluster.config(FAULT_QUARANTINE))
        self._pod, self._module = pod, Quarantine(config, at(found, "data.status") == TRIPPED)
        if found is None:
            metadata = {"name": BREAKER_CONFIG_MAP, "namespace": NAMESPACE}
            item: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            data = {"status": CLOSED, "cursor": "RESUME"}
            self._cluster.attempt(FAULT_QUARANTINE, "POST", CONFIG_MAPS, {**item, "data": data})

    def _breaker(self, status: str) -> None:
        path = f"{CONFIG_MAPS}/{BREAKER_CONFIG_MAP}"
        self._cluster.attempt(FAULT_QUARANTINE, "PATCH", path, {"data": {"status": status}}, MERGE_PATCH)

    def _carry_out(self, decision: Decision, node: Json) -> None:
        held: Changes = {QUARANTINE_ANNOTATION: annotation(decision.tracked)}
        if decision.kind in ("track", "recover"):
            self._change(node, held)
        elif decision.kind == "cordon":
            when = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
            notes: Changes = {**held, CORDONED_ANNOTATION: "True", BY_HAND_ANNOTATION: None}
            marks = self._marks(draining.QUARANTINED, SERVICE, when)
            if self._change(node, notes, marks, unschedulable=True):
                self._store.quarantined[name(node)] = self._cluster.now()
        elif decision.kind == "uncordon":
            # Two writes, as upstream: the events first. The second may be refused, and is not repeated.
            self._change(node, held)
            if self._change(node, _RELEASED, self._marks(None, None, None), unschedulable=False):
                self._store.quarantined.pop(name(node), None)

    def _released_by_hand(self) -> None:
        """Ends the quarantine of each node that somebody has uncordoned (handleManualUncordon)."""
        for node in self._cluster.nodes():
            is_held = annotations_of(node).get(CORDONED_ANNOTATION) == "True"
            if is_held and not at(node, "spec.unschedulable", False):
                self._change(node, {**_RELEASED, BY_HAND_ANNOTATION: "True"}, self._marks(None, None, None))
                self._store.quarantined.pop(name(node), None)

    def _marks(self, state: str | None, by: str | None, when: str | None) -> Changes:
        prefix = self._module.config.label_prefix
        return {STATE_LABEL: state, f"{prefix}cordon-by": by, f"{prefix}cordon-timestamp": when}

    def _change(
        self, node: Json, notes: Changes, marks: Changes | None = None, unschedulable: bool | None = None
    ) -> bool:
        body: Json = {"metadata": {"annotations": notes, "labels": marks or {}}}
        if unschedulable is not None:
            body["spec"] = {"unschedulable": unschedulable or None}
        return self._cluster.write(node, FAULT_QUARANTINE, body)


class NodeDrainer:
    """Drains quarantined nodes: checks a node's Pods in each round until none is left that has to be removed."""

    def __init__(self, cluster: Cluster, store: Store) -> None:
        self._cluster, self._store = cluster, store

    def run(self) -> bool:
        """Runs one round over the quarantined nodes; returns True if a drain has to wait for Pods."""
        config, waits = draining.Config.of(self._cluster.config(NODE_DRAINER)), False
        for node in self._cluster.nodes():
            since = self._store.quarantined.get(name(node))
            if since is None or tracked(node) is None or labels(node).get(STATE_LABEL) == draining.DRAINED:
                continue
            pods = map(with_times, self._cluster.pods(name(node)))
            found = draining.drain(config, pods, since, self._cluster.now())
            state = draining.DRAINED if found.is_done else draining.DRAINING
            if labels(node).get(STATE_LABEL) != state:
                self._cluster.write(node, NODE_DRAINER, {"metadata": {"labels": {STATE_LABEL: state}}})
            for pod in found.evict:
                self._evict(pod)
            for pod in found.delete:
                path = f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}"
                self._cluster.attempt(NODE_DRAINER, "DELETE", path, {"gracePeriodSeconds": 0})
            if found.wait:
                message = draining.waiting_message(found.wait)
                self._cluster.say(name(node), NODE_DRAINER, draining.WAITING_REASON, message, "Normal")
            waits = waits or not found.is_done
        return waits

    def _evict(self, pod: Json) -> None:
        where, key = at(pod, "metadata.namespace"), name(pod)
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": key, "namespace": where}}
        self._cluster.attempt(NODE_DRAINER, "POST", f"/api/v1/namespaces/{where}/pods/{key}/eviction", body)


def with_times(pod: Json) -> Json:
    """The Pod, in which the times that a drain reads are numbers: seconds since the epoch."""
    times: dict[str, float] = {}
    if deleted := at(pod, "metadata.deletionTimestamp"):
        times["deleted"] = _seconds(str(deleted))
    for each in at(pod, "status.conditions", []):
        if each["type"] == "Ready" and each["status"] == "False" and each.get("lastTransitionTime"):
            times["notReady"] = _seconds(str(each["lastTransitionTime"]))
    return {**pod, "metadata": {**pod["metadata"], "times": times}}


def _seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()
