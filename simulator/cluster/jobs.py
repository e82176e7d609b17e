"""Jobs whose one Pod the simulator has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, at, owner, timestamp
from simulator.kubernetes.client import MERGE_PATCH, ApiError, Client


def complete(client: Client, pod: Mapping[str, Any]) -> None:
    """Reports that the Job of a Pod that has succeeded is complete.

    The Job controller would too, two seconds later: it gathers changes of Pods for one before each look at a Job
    (kubernetes/kubernetes, pkg/controller/job, syncJobBatchPeriod), and looks once more after it has removed the
    finalizer of the Pod. Of a Job that is complete it removes that in any case.
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
    """The status of a Job of one Pod that has succeeded, as the API server accepts it."""
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
