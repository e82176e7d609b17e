"""Status of ClusterPolicy and NVIDIADriver, with the operator's own messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cluster.objects import Json, at, labels, matches
from simulator.gpu.release import Release

READY, NOT_READY, DISABLED = "ready", "notReady", "disabled"

POLICY_RECONCILED = "ClusterPolicy is ready as all resources have been successfully reconciled"
NO_GPU_NODES = "No GPU node found, watching for new nodes to join the cluster."
DRIVER_RECONCILED = "All resources have been successfully reconciled"
DRIVER_WAITING = "Waiting for driver pod to be ready"
NO_POLICY = "no ClusterPolicy object found in the cluster"
CRD_OFF = "useNvidiaDriverCRD is not enabled in ClusterPolicy"
UPGRADING = (
    "NVIDIADriver upgrade has not completed; "
    "one or more NVIDIADriver-owned Nodes are marked pending, in-progress, or failed"
)


def ready(reason: str, message: str, **rest: Any) -> Json:
    return {
        "state": READY,
        **rest,
        "conditions": [
            {"type": "Ready", "status": "True", "reason": reason, "message": message},
            {"type": "Error", "status": "False", "reason": "Ready", "message": ""},
        ],
    }


def error(reason: str, message: str, state: str = NOT_READY, **rest: Any) -> Json:
    return {
        "state": state,
        **rest,
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "Error", "message": ""},
            {"type": "Error", "status": "True", "reason": reason, "message": message},
        ],
    }


def not_ready(found: Release, states: Sequence[str], *, upgrading: bool = False, **rest: Any) -> Json:
    """Status of a ClusterPolicy with states that are not ready, or with drivers that are being upgraded."""
    text = found.not_ready.format(states=" ".join(states)) if states else "ClusterPolicy is not ready"
    return error("OperandNotReady", f"{text}; {UPGRADING}" if upgrading else text, **rest)


def is_ready(found: Release, daemonset: Mapping[str, Any] | None) -> bool:
    """True where the operator treats a DaemonSet as ready. Nothing to run counts as ready, which is why `ready`
    promises no GPU.
    """
    status: Mapping[str, Any] = at(daemonset, "status", {})
    seen = int(status.get("observedGeneration", 0)) >= int(at(daemonset, "metadata.generation", 1))
    if found.waits_for_generation and not seen:
        return False
    desired = int(status.get("desiredNumberScheduled", 0))
    if desired == 0:
        return True
    if int(status.get("numberUnavailable", 0)):
        return False
    by_revision = found.waits_for_generation or at(daemonset, "spec.updateStrategy.type") == "OnDelete"
    return not by_revision or int(status.get("updatedNumberScheduled", 0)) >= desired


def is_driver_ready(daemonset: Mapping[str, Any]) -> bool:
    """True where an NVIDIADriver's DaemonSet is ready; unlike the ClusterPolicy's, one that was not looked at is
    never ready.
    """
    status: Mapping[str, Any] = at(daemonset, "status", {})
    desired = int(status.get("desiredNumberScheduled", 0))
    return (
        int(status.get("observedGeneration", 0)) >= int(at(daemonset, "metadata.generation", 1))
        and not int(status.get("numberUnavailable", 0))
        and int(status.get("updatedNumberScheduled", 0)) >= desired
    )


def is_idle(daemonset: Mapping[str, Any], nodes: Mapping[str, Any]) -> bool:
    """True where its controller has looked at it, no node has a pod of it, and its selector fits none. One that only
    a taint keeps from its nodes stays (NVIDIA/gpu-operator#1368).
    """
    status: Mapping[str, Any] = at(daemonset, "status", {})
    seen = int(status.get("observedGeneration", 0)) >= int(at(daemonset, "metadata.generation", 1))
    if not seen or int(status.get("desiredNumberScheduled", 0)) or int(status.get("numberMisscheduled", 0)):
        return False
    selector: Mapping[str, str] = at(daemonset, "spec.template.spec.nodeSelector", {})
    return not any(matches(selector, labels(node)) for node in nodes.values())
