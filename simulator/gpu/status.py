"""Statuses of ClusterPolicies and NVIDIADrivers, with the operator's own messages."""

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
    """Status of a ClusterPolicy while operands are not ready or drivers are being upgraded. `states`: names of the
    operands' states that are not ready.
    """
    text = found.not_ready.format(states=" ".join(states)) if states else "ClusterPolicy is not ready"
    return error("OperandNotReady", f"{text}; {UPGRADING}" if upgrading else text, **rest)


def is_ready(found: Release, daemonset: Mapping[str, Any] | None) -> bool:
    """True if the operator treats a DaemonSet as ready.

    A DaemonSet without nodes counts as ready, so the status `ready` does not mean that there is a GPU.
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
    """True if an NVIDIADriver's DaemonSet is ready.

    The DaemonSet is not ready until its controller has seen the latest generation. For the ClusterPolicy's DaemonSets,
    `is_ready` has another rule.
    """
    status: Mapping[str, Any] = at(daemonset, "status", {})
    desired = int(status.get("desiredNumberScheduled", 0))
    return (
        int(status.get("observedGeneration", 0)) >= int(at(daemonset, "metadata.generation", 1))
        and not int(status.get("numberUnavailable", 0))
        and int(status.get("updatedNumberScheduled", 0)) >= desired
    )


def is_idle(daemonset: Mapping[str, Any], nodes: Mapping[str, Any]) -> bool:
    """True if a DaemonSet has no Pods and its selector matches no node; False while its status is out of date.

    A DaemonSet that only a taint keeps off its nodes is not idle (NVIDIA/gpu-operator#1368).
    """
    status: Mapping[str, Any] = at(daemonset, "status", {})
    seen = int(status.get("observedGeneration", 0)) >= int(at(daemonset, "metadata.generation", 1))
    if not seen or int(status.get("desiredNumberScheduled", 0)) or int(status.get("numberMisscheduled", 0)):
        return False
    selector: Mapping[str, str] = at(daemonset, "spec.template.spec.nodeSelector", {})
    return not any(matches(selector, labels(node)) for node in nodes.values())
