"""One reconcile of the operator: its steps so far, and the state of the cluster after these steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simulator.cluster.objects import Changes, Json, annotations_of, at, labels, name
from simulator.gpu import names
from simulator.gpu.release import Release, release
from simulator.gpu.state import Controller, State, Verb, Write, apply, covers


class Run:
    """Collects the steps of one reconcile and applies each step to `state`. Steps that would change nothing are left
    out.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.steps: list[Write] = []
        self.controller: Controller = "policy"

    @property
    def found(self) -> Release:
        return release(self.state.release)

    @property
    def spec(self) -> Json:
        return self.state.spec

    def add(self, verb: Verb, kind: str, key: str, body: Any = None) -> None:
        step = Write(self.controller, verb, kind, key, body)
        self.steps.append(step)
        self.state = apply(self.state, step)

    def label(self, node: str, changes: Changes) -> None:
        given = labels(self.state.nodes[node])
        real = {key: value for key, value in changes.items() if given.get(key) != value}
        if real:
            self.add("label", "Node", node, real)

    def annotate(self, node: str, key: str, value: str | None) -> None:
        if annotations_of(self.state.nodes[node]).get(key) != value:
            self.add("annotate", "Node", node, {key: value})

    def ensure(self, wanted: Json) -> None:
        """Creates or updates an object.

        DaemonSets are compared by the hash that the operator stores in an annotation.
        """
        kind, key = str(wanted["kind"]), name(wanted)
        if kind == "DaemonSet":
            old = self.state.daemonsets.get(key)
            hash_ = annotations_of(wanted)[names.LAST_APPLIED]
            if old is None or annotations_of(old).get(names.LAST_APPLIED) != hash_:
                self.add("apply", kind, key, wanted)
            return
        old = self.state.others.get((kind, key))
        rest = {field: value for field, value in wanted.items() if field != "metadata"}
        if old is None or not covers(old, rest):
            self.add("apply", kind, key, wanted)

    def remove(self, kind: str, key: str) -> None:
        known = (
            self.state.daemonsets
            if kind == "DaemonSet"
            else {n: o for (k, n), o in self.state.others.items() if k == kind}
        )
        if key in known:
            self.add("delete", kind, key)

    def remove_all(self, wanted: Iterable[Mapping[str, Any]]) -> None:
        for item in wanted:
            self.remove(str(item["kind"]), name(item))

    def status(self, kind: str, key: str, status: Json) -> None:
        given = self.state.policy if kind == "ClusterPolicy" else self.state.drivers.get(key)
        if at(given, "status", {}) != status:
            self.add("status", kind, key, status)
