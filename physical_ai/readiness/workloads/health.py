"""Health of a Pod, its owner, its group and its workflow.

Each function returns the problem in the words of the object's own status, or an empty text if the object is healthy.
Pure functions.

The diagnosis says "nothing is wrong" only where the status itself shows that an object is healthy. If no known cause
explains a problem, the diagnosis shows the problem as an unknown cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, name

WANTED = "Complete", "SuccessCriteriaMet"
"""Conditions of a Job; each of them shows that the Job has succeeded."""
REPLICAS: Mapping[str, tuple[str, str]] = {
    "Deployment": ("spec.replicas", "status.availableReplicas"),
    "ReplicaSet": ("spec.replicas", "status.availableReplicas"),
    "StatefulSet": ("spec.replicas", "status.readyReplicas"),
    "DaemonSet": ("status.desiredNumberScheduled", "status.numberAvailable"),
}
"""Paths of two fields in a controller: the wanted number of Pods, and the number of ready Pods. Keys are the kinds of
controllers.
"""
DONE = ("COMPLETED", "FAILED_CANCELED")
"""Statuses of an OSMO workflow that nobody waits for: completed, or cancelled by its user."""


def pod_shortfall(pod: Mapping[str, Any]) -> str:
    """Problem of a Pod, such as its deletion or a failed container. Empty if the Pod has succeeded or is ready, is not
    being deleted, and no container shows a failure.

    Debug containers (ephemeral) do not count.
    """
    phase = str(at(pod, "status.phase") or "Pending")
    if deleted := at(pod, "metadata.deletionTimestamp"):
        return f"deletionTimestamp: {deleted}, phase: {phase}"
    if phase == "Succeeded":
        return next(_ended_badly(pod), "")
    if phase != "Running":
        return _said(pod, phase)
    ready = condition(pod, "Ready")
    if ready.get("status") != "True":
        return _said(pod, phase)
    return next(_not_running(pod), "")


def _said(pod: Mapping[str, Any], phase: str) -> str:
    """Status of a Pod as text: its phase, reason and message, and the first condition that is not True."""
    words = [f"phase: {phase}", *(str(at(pod, f"status.{key}", "") or "") for key in ("reason", "message"))]
    conditions: list[Json] = at(pod, "status.conditions", [])
    for each in conditions:
        if each.get("status") != "True" and each.get("type") not in ("DisruptionTarget", "PodResizePending"):
            told = " ".join(str(each[key]) for key in ("reason", "message") if each.get(key))
            words.append(f"{each.get('type')}: {each.get('status')}{f', {told}' if told else ''}")
            break
    return "; ".join(word for word in words if word)


def sidecars(pod: Mapping[str, Any]) -> set[str]:
    """Names of a Pod's sidecars: init containers with `restartPolicy: Always`, which run beside the other containers.
    The Pod can end while they still run.
    """
    specs: list[Json] = at(pod, "spec.initContainers", [])
    return {str(each["name"]) for each in specs if each.get("restartPolicy") == "Always"}


def _ended_badly(pod: Mapping[str, Any]) -> Iterator[str]:
    beside = sidecars(pod)
    for status in _statuses(pod):
        code = at(status, "state.terminated.exitCode", 0)
        if code != 0 and status["name"] not in beside:
            yield f"phase: Succeeded, and container {status['name']} ended with exit code {code}"


def _not_running(pod: Mapping[str, Any]) -> Iterator[str]:
    """Problems of containers in a Pod that is reported as ready: waiting, failed, not ready."""
    beside, inits = sidecars(pod), {str(each["name"]) for each in at(pod, "spec.initContainers", [])}
    for status in _statuses(pod):
        own, code = str(status["name"]), at(status, "state.terminated.exitCode")
        if waits := at(status, "state.waiting.reason"):
            yield f"phase: Running, and container {own} waits: {waits}"
        elif code is not None and code != 0:
            yield f"phase: Running, and container {own} ended with exit code {code}"
        elif code is None and not status.get("ready") and (own in beside or own not in inits):
            yield f"phase: Running, and container {own} is not ready"


def _statuses(pod: Mapping[str, Any]) -> list[Json]:
    return [*at(pod, "status.initContainerStatuses", []), *at(pod, "status.containerStatuses", [])]


def job_shortfall(job: Mapping[str, Any]) -> str:
    """Problem of a Job. Empty if the Job is complete, or as many Pods are ready as should run (`job_wants`)."""
    if any(condition(job, kind).get("status") == "True" for kind in WANTED):
        return ""
    for kind in ("Failed", "FailureTarget"):
        found = condition(job, kind)
        if found.get("status") == "True":
            return f"{kind}: {found.get('reason', '')} {found.get('message', '')}".strip()
    if at(job, "spec.suspend") or condition(job, "Suspended").get("status") == "True":
        return "suspended"
    wanted, ready, active = job_wants(job), int(at(job, "status.ready", 0)), int(at(job, "status.active", 0))
    if ready >= wanted:
        return ""
    return f"active: {active}, ready: {ready} of {wanted}"


def job_wants(job: Mapping[str, Any]) -> int:
    """Number of the Job's Pods that should run now: the parallelism or, if smaller, the missing completions."""
    parallel = int(at(job, "spec.parallelism", 1))
    completions = at(job, "spec.completions")
    left = parallel if completions is None else int(completions) - int(at(job, "status.succeeded", 0))
    return max(0, min(parallel, left))


def owner_shortfall(kind: str, item: Mapping[str, Any]) -> str:
    """Problem of a Deployment, ReplicaSet, StatefulSet or DaemonSet; empty where all its Pods are ready, its
    controller has processed its last change, and a Deployment has no old Pods left.
    """
    wanted, ready = owner_counts(kind, item)
    seen, own = at(item, "status.observedGeneration"), at(item, "metadata.generation")
    if seen is not None and own is not None and int(seen) < int(own):
        return f"observedGeneration: {seen} of {own}"
    if ready < wanted:
        conditions: list[Json] = at(item, "status.conditions", [])
        told = [
            f"{each.get('type')}: {each.get('reason', '')} {each.get('message', '')}".strip()
            for each in conditions
            if (each.get("type") == "ReplicaFailure") == (each.get("status") == "True")
        ]
        return "; ".join([f"{ready} of {wanted} Pods are ready", *told])
    return _rollout_shortfall(item) if kind == "Deployment" else ""


def failure_said(item: Mapping[str, Any]) -> str:
    """Condition by which a controller reports that it makes no progress; empty if the controller reports none."""
    for kind, bad in (("ReplicaFailure", "True"), ("Progressing", "False")):
        found = condition(item, kind)
        if found.get("status") == bad:
            return f"{kind}: {found.get('reason', '')} {found.get('message', '')}".strip()
    return ""


def _rollout_shortfall(item: Mapping[str, Any]) -> str:
    """Problem of a Deployment's rollout: the Deployment reports a failure, or not all of its Pods have the newest
    template. The rollout may hang while all old Pods are ready, because Kubernetes keeps old Pods until the new ones
    are ready.
    """
    if said := failure_said(item):
        return said
    updated, made = at(item, "status.updatedReplicas"), int(at(item, "status.replicas", 0))
    desired = max(made, owner_counts("Deployment", item)[0])
    return f"updatedReplicas: {updated} of {desired}" if updated is not None and int(updated) < desired else ""


def owner_counts(kind: str, item: Mapping[str, Any]) -> tuple[int, int]:
    """Wanted number of Pods, and number of ready Pods."""
    wanted, ready = REPLICAS[kind]
    return int(at(item, wanted, 0 if kind == "DaemonSet" else 1)), int(at(item, ready, 0))


def group_shortfall(group: Mapping[str, Any], members: Iterable[Mapping[str, Any]], least: int) -> str:
    """Problem of a PodGroup of KAI. Empty if `least` or more of its Pods are healthy, or all have succeeded."""
    alive = [pod for pod in members if at(pod, "status.phase") != "Succeeded"]
    well = [pod for pod in alive if not pod_shortfall(pod)]
    if not alive or len(well) >= least:
        return ""
    said: list[Json] = at(group, "status.schedulingConditions", [])
    words = [f"{each.get('reason', '')}: {each.get('message', '')}".strip(": ") for each in said[-1:]]
    return "; ".join([f"PodGroup {name(group)}: {len(well)} of {least} Pods run", *words])


def queue_shortfall(queue: Mapping[str, Any], known: Iterable[str]) -> str:
    """Problem of a KAI queue; empty where its parent exists and none of its conditions is false."""
    parent = str(at(queue, "spec.parentQueue", "") or "")
    if parent and parent not in known:
        return f"spec.parentQueue: {parent}, which does not exist"
    conditions: list[Json] = at(queue, "status.conditions", [])
    for each in conditions:
        if each.get("status") == "False":
            return f"{each.get('type')}: {each.get('reason', '')} {each.get('message', '')}".strip()
    return ""


def workflow_shortfall(workflow: Mapping[str, Any]) -> str:
    """Status of an OSMO workflow without Pods, as a problem; empty where the workflow completed or was canceled."""
    status = str(workflow.get("status", ""))
    return "" if status in DONE else f"status: {status or 'none'}"
