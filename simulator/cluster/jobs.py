"""Completion of Jobs whose one Pod the simulator has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, at, owner, timestamp
from simulator.kubernetes.client import MERGE_PATCH, ApiError, Client


def complete(client: Client, pod: Mapping[str, Any]) -> None:
    """Marks the Job of a Pod that has succeeded as complete.

    The Job controller would do so two seconds later: it collects Pod changes for one second before each sync of a Job
    (kubernetes/kubernetes, pkg/controller/job, syncJobBatchPeriod), and syncs once more after it has removed the Pod's
    finalizer. It also removes the finalizer from the Pods of a complete Job.
    """
    path = f"/apis/batch/v1/namespaces/{at(pod, 'metadata.namespace')}/jobs/{owner(pod, 'Job')}"
    job = client.find(path)
    if job is None or at(job, "metadata.deletionTimestamp") is not None:
        return
    try:
        client.patch(f"{path}/status", {"status": completed(job, timestamp())}, MERGE_PATCH)
    except ApiError as refusal:
        if refusal.code not in (404, 409):
            raise


def completed(job: Mapping[str, Any], now: str) -> Json:
    """The status of a Job whose one Pod has succeeded, in the form that the API server accepts."""
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    reason = {"reason": "CompletionsReached", "message": "Reached expected number of succeeded pods"}
    conditions = [{"type": kind, "status": "True", **times, **reason} for kind in ("SuccessCriteriaMet", "Complete")]
    return {
        "active": 0,
        "ready": 0,
        "terminating": 0,
        "succeeded": 1,
        "startTime": at(job, "status.startTime", now),
        "completionTime": now,
        "conditions": conditions,
        "uncountedTerminatedPods": {"succeeded": None, "failed": None},
    }
