"""State of nodes in Slurm, from slurmd's Pods, and the gate of a node that should be in Slurm. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parts.slurm import names
from physical_ai.kubernetes.objects import at, condition, labels, name
from physical_ai.readiness.causes import causes
from physical_ai.readiness.model import ClosedGate, Expected, Json
from physical_ai.readiness.objects import node_of
from physical_ai.readiness.phase import is_running, phase

APP = "app.kubernetes.io/name"
GATE = "slurm"


@dataclass(frozen=True)
class SlurmNode:
    """State of a node in Slurm. It is read from the conditions of slurmd's Pod, to which the Slurm operator copies
    Slurm's states.
    """

    node: str
    """Name of the node in Kubernetes."""
    host: str
    """Name of the node in Slurm."""
    pod: str
    is_running: bool
    """True where slurmd has registered with slurmctld."""
    states: Mapping[str, str]
    """Slurm's states of the node, with their messages."""

    @property
    def drained_for(self) -> str:
        """Reason of the node's drain in Slurm; empty where the node takes jobs."""
        return self.states.get("Drain", "")

    @property
    def is_busy(self) -> bool:
        return any(state in self.states for state in names.BUSY_STATES)

    @property
    def is_drained_by_operator(self) -> bool:
        """True if the Slurm operator has drained the node because the node is cordoned in Kubernetes. Such a drain ends
        when the cordon ends.
        """
        return self.drained_for.startswith(names.REASON_PREFIX)

    def document(self) -> dict[str, Any]:
        return {"node": self.node, "host": self.host, "pod": self.pod, "states": sorted(self.states),
                "busy": self.is_busy, "drainReason": self.drained_for}  # fmt: skip


def is_slurmd(pod: Json) -> bool:
    return at(pod, "metadata.namespace") == names.NAMESPACE and labels(pod).get(APP) == names.NODE


def slurm_node(pod: Json) -> SlurmNode:
    """State of a node in Slurm, from slurmd's Pod on it."""
    held: Sequence[Json] = at(pod, "status.conditions", [])
    found = [each for each in held if str(each["type"]).startswith(names.STATE_PREFIX) and each["status"] == "True"]
    states = {str(each["type"]).removeprefix(names.STATE_PREFIX): str(each.get("message", "")) for each in found}
    return SlurmNode(node_of(pod), str(at(pod, "spec.hostname", "")), name(pod), is_running(pod), states)


def slurm_nodes(pods: Iterable[Json]) -> dict[str, SlurmNode]:
    """State of nodes in Slurm, by the Kubernetes node's name; Pods that are being deleted are left out."""
    live = (pod for pod in pods if is_slurmd(pod) and not at(pod, "metadata.deletionTimestamp"))
    return {found.node: found for found in map(slurm_node, live)}


def is_excluded(node: Json) -> bool:
    """True where the node gets no Pod of slurmd, because of its label `OUT_LABEL` or because it is cordoned."""
    return names.OUT_LABEL in labels(node) or bool(at(node, "spec.unschedulable"))


def slurm_gate(expected: Expected, node: Json, pods: Sequence[Json]) -> ClosedGate | None:
    """Closed Slurm gate, with the reason, if the node should be in Slurm and is not; None if the node is in Slurm, or
    was excluded from it.

    A drain in Slurm does not close the gate: it is intended, or follows from a fault.

    Args:
        pods: Pods in Slurm's namespace.
    """
    own = next((pod for pod in pods if is_slurmd(pod) and node_of(pod) == name(node)), None)
    if own is None:
        return None if is_excluded(node) else _closed(expected, node, "slurmd-absent", None)
    found = slurm_node(own)
    if "InvalidReg" in found.states:
        return _closed(expected, node, "slurm-refuses-node", own, found.states["InvalidReg"])
    if found.is_running:
        return None
    placed = condition(own, "PodScheduled")
    if placed.get("status") == "False":
        return _closed(expected, node, "slurmd-unscheduled", own, str(placed.get("message", "")))
    controllers = [pod for pod in pods if labels(pod).get(APP) == names.CONTROLLER]
    if not any(map(is_running, controllers)):
        shown = phase(controllers[0]) if controllers else "no Pod"
        return _closed(expected, node, "slurmctld-down", own, f"slurmctld: {shown}")
    message = str(condition(own, "Ready").get("message", ""))
    reason = "slurmd has started, and has not registered with slurmctld yet."
    return ClosedGate(expected.pool, name(node), GATE, reason, pod=name(own), phase=phase(own), message=message)


def _closed(expected: Expected, node: Json, cause: str, pod: Json | None, message: str = "") -> ClosedGate:
    known = causes()[cause]
    shown = {"pod": name(pod), "phase": phase(pod)} if pod is not None else {}
    facts = {"node": name(node), "pool": expected.pool, "namespace": names.NAMESPACE, "message": message, **shown}
    reason, fix = known.describe({**facts, "stack": expected.stack}, azure=not expected.existing)
    given = {"cause": cause, "fix": fix, "message": message, **shown}
    return ClosedGate(expected.pool, name(node), GATE, reason, **given, may_recover=known.waits)
