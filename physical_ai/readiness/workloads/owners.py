"""Explanations of Jobs, Deployments and other owners of Pods, and of KAI's groups and queues, from their own status and
from the problems of their Pods. Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, name, namespace
from physical_ai.readiness.workloads.clock import longer
from physical_ai.readiness.workloads.health import (
    REPLICAS,
    failure_said,
    group_shortfall,
    job_shortfall,
    job_wants,
    owner_counts,
    owner_shortfall,
    pod_shortfall,
    queue_shortfall,
)
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.queueing import least_of
from physical_ai.readiness.workloads.refusals import is_history, last_refusals, refusal
from physical_ai.readiness.workloads.schedules import all_schedule_causes, schedule_causes

OfPod = Callable[[Mapping[str, Any]], Iterable[Explanation]]
JOB_CONTROLLER = "kubernetes.io/job-controller"
FAILURES = {
    "BackoffLimitExceeded": "job-backoff",
    "DeadlineExceeded": "job-deadline",
    "PodFailurePolicy": "job-policy",
    "FailedIndexes": "job-indexes",
    "MaxFailedIndexesExceeded": "job-indexes",
}
"""Cause for each reason of a Job's condition Failed (k8s.io/api, batch/v1)."""
SETTLING = 60.0
"""Seconds in which a controller should have created its Pods. Missing Pods count as a fault only after this time."""


def find(wanted: str, index: Index) -> tuple[str, Json] | None:
    """Kind and object of a Job, CronJob, Deployment or other owner of Pods, by NAME or NAMESPACE/NAME; None if the
    cluster has no such owner.
    """
    for kind, items in index.given.owners.items():
        for item in items:
            if wanted in (name(item), f"{namespace(item)}/{name(item)}"):
                return kind, item
    return None


def pods_of(kind: str, item: Mapping[str, Any], index: Index) -> list[Json]:
    """Pods of an owner."""
    if kind == "Deployment":
        return index.of_deployment(item)
    return index.kept_by(kind, item)


def owner_causes(kind: str, item: Mapping[str, Any], index: Index, of_pod: OfPod) -> Iterator[Explanation]:
    """Explanations of why a Job or another owner lacks ready Pods: refusals, the causes of its Pods, its own
    conditions.
    """
    if kind == "CronJob":
        yield from schedule_causes(item, index, lambda job: owner_causes("Job", job, index, of_pod))
        return
    shortfall = job_shortfall(item) if kind == "Job" else owner_shortfall(kind, item)
    if not shortfall:
        return
    found = list(_refused(kind, item, index))
    found += [each for pod in pods_of(kind, item, index) for each in of_pod(pod)]
    yield from found
    own = _of_job(item, shortfall, index) if kind == "Job" else None
    if own is not None:
        yield own
    elif not found and not _has_all(kind, item, index):
        yield _silent(kind, item, shortfall, index)


def _has_all(kind: str, item: Mapping[str, Any], index: Index) -> bool:
    """True if the owner reports no failure and enough of its Pods are healthy, so that only the number of ready Pods in
    its status is outdated.
    """
    desired = job_wants(item) if kind == "Job" else owner_counts(kind, item)[0]
    if failure_said(item):
        return False
    return sum(not pod_shortfall(pod) for pod in pods_of(kind, item, index)) >= desired


def _refused(kind: str, item: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations for refusals by the API server to create the owner's Pods. For a Deployment, the events are about
    its ReplicaSets.
    """
    for event in last_refusals(index).get((kind, namespace(item), name(item)), ()):
        if not is_history(event, index):
            yield refusal(event, index)


def _of_job(job: Mapping[str, Any], shortfall: str, index: Index) -> Explanation | None:
    """Explanation, from a Job's own status, of a Job that has failed or is suspended, or of a Job without active Pods
    that a controller other than Kubernetes' Job controller manages; None for any other Job.
    """
    item, facts = f"job {namespace(job)}/{name(job)}", {"job": name(job), "namespace": namespace(job)}
    found = (condition(job, kind) for kind in ("Failed", "FailureTarget"))
    failed = next((each for each in found if each.get("status") == "True"), None)
    if failed is not None:
        cause = FAILURES.get(str(failed.get("reason", "")), "job-failed")
        is_late = cause == "job-deadline"
        limit = at(job, "spec.activeDeadlineSeconds" if is_late else "spec.backoffLimit", 6)
        told = {"limit": f"{limit} s" if is_late else str(limit), **facts,
                "indexes": str(at(job, "status.failedIndexes", "") or "(see its status)"),
                "message": str(failed.get("message") or failed.get("reason") or shortfall)}  # fmt: skip
        return index.explanation(item, cause, "container", shortfall, "condition of the Job", **told)
    if shortfall == "suspended":
        return index.explanation(item, "job-suspended", "gang", "spec.suspend: true", "spec of the Job", **facts)
    manager = str(at(job, "spec.managedBy", "") or JOB_CONTROLLER)
    if manager != JOB_CONTROLLER and not int(at(job, "status.active", 0)):
        return index.explanation(item, "job-managed", "gang", shortfall, "spec of the Job", manager=manager, **facts)
    return None


def _silent(kind: str, item: Mapping[str, Any], shortfall: str, index: Index) -> Explanation:
    """Explanation for an owner that lacks Pods although neither a refusal nor a Pod shows why."""
    own, where = f"{kind.lower()} {namespace(item)}/{name(item)}", f"status of the {kind}"
    facts = {"owner": f"{kind.lower()} {name(item)}", "job": name(item), "namespace": namespace(item)}
    if not _settled(item, index):
        return index.explanation(own, "owner-starting", "gang", shortfall, where, **facts)
    if kind == "Job":
        return index.explanation(own, "job-without-pods", "gang", shortfall, where, **facts)
    wanted, ready = owner_counts(kind, item)
    counts = {"wanted": str(wanted), "ready": str(ready)}
    return index.explanation(own, "owner-short", "container", shortfall, where, **counts, **facts)


def all_owner_causes(index: Index, explained: set[tuple[str, str]], of_pod: OfPod) -> Iterator[Explanation]:
    """Explanations for owners, except those whose refusals or Pods are explained already.

    Args:
        explained: Namespace and name of the Pods that have a cause.
    """
    yield from all_schedule_causes(index)
    for kind, items in index.given.owners.items():
        for item in items if kind not in ("ReplicaSet", "CronJob") else ():
            if kind == "Job" and is_superseded(item, index):
                continue
            shortfall = job_shortfall(item) if kind == "Job" else owner_shortfall(kind, item)
            if not shortfall or any((namespace(pod), name(pod)) in explained for pod in pods_of(kind, item, index)):
                continue
            if any(True for _ in _refused(kind, item, index)):
                continue
            yield from owner_causes(kind, item, index, of_pod)


def _settled(item: Mapping[str, Any], index: Index) -> bool:
    """True if the last change of the owner is more than `SETTLING` seconds ago or has no known time, so that the
    owner's Pods should exist.
    """
    conditions: list[Json] = at(item, "status.conditions", [])
    times = [str(each.get("lastTransitionTime") or "") for each in conditions]
    last = max([*times, str(at(item, "metadata.creationTimestamp", "") or "")])
    return not last or longer(last, index.given.now, SETTLING)


def is_superseded(job: Mapping[str, Any], index: Index) -> bool:
    """True for a Job of a CronJob if a later Job of that CronJob is healthy: complete, or with all its Pods ready."""
    created = str(at(job, "metadata.creationTimestamp", "") or "")
    return index.last_in_order.get(index.controller(job), "") > created


def is_replaced(pod: Mapping[str, Any], index: Index) -> bool:
    """True for a failed Pod that its owner has replaced or no longer needs. Such a Pod is not reported as a problem."""
    if at(pod, "status.phase") != "Failed":
        return False
    found = index.owner_of(pod)
    if found is None:
        return False
    kind, owner = found
    if kind == "Job":
        return not job_shortfall(owner) or is_superseded(owner, index)
    return kind in REPLICAS and not owner_shortfall(kind, owner)


def group_causes_of(group: Mapping[str, Any], index: Index, of_pod: OfPod) -> Iterator[Explanation]:
    """Explanations of why a PodGroup of KAI does not run."""
    members = index.members(group)
    found = [each for pod in members for each in of_pod(pod)]
    yield from found
    shortfall = group_shortfall(group, members, least_of(group))
    if shortfall and not found:
        facts = {"group": name(group), "least": str(least_of(group)), "present": str(len(members))}
        item = f"podgroup {namespace(group)}/{name(group)}"
        yield index.explanation(
            item,
            "gang-incomplete",
            "gang",
            shortfall,
            where="status of the PodGroup",
            namespace=namespace(group),
            **facts,
        )


def queue_causes_of(queue: Mapping[str, Any], index: Index, of_pod: OfPod) -> Iterator[Explanation]:
    """Explanations of why a queue of KAI starts nothing."""
    shortfall, own = queue_shortfall(queue, {name(each) for each in index.given.queues or ()}), name(queue)
    if shortfall:
        parent = str(at(queue, "spec.parentQueue", "") or "")
        cause = "queue-parent-missing" if shortfall.startswith("spec.parentQueue") else "queue-says"
        yield index.explanation(f"queue {own}", cause, "queue", shortfall, where="the Queue", queue=own, parent=parent)
    for pod in index.in_queue(own):
        yield from of_pod(pod)
