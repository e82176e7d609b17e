"""Execution of a check's Job in a cluster, and the Job's removal. Changes the cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, labels, name
from physical_ai.planning.acceptance import CONTAINER, NAMESPACE
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing, Unreachable
from workbench.health.acceptance.judging import JobOutcome

POLL_SECONDS = 2.0
PLACE_SECONDS = 60.0
"""Seconds for which a Pod may be unschedulable before the scheduler's reason is reported."""
ABSENT_POLLS = 30
"""Number of polls without a Pod after which the Job is assumed to be unable to create one."""
INDEX = "batch.kubernetes.io/job-completion-index"
_JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_STUCK = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError")


class Stopped(Exception):
    """Error if the user ends the acceptance run."""


def run_job(
    send: Send,
    job: Mapping[str, Any],
    stop: threading.Event,
    seen: Callable[[str], None],
    beside: Sequence[Mapping[str, Any]] = (),
) -> JobOutcome:
    """Runs a check's Job, and returns the outcome of its first Pod. The Job is deleted in every case, even after an
    error.

    Args:
        stop: Event that ends the run when it is set.
        seen: Called with the state of the first Pod whenever it changes.
        beside: Objects that the Pods need; the Job owns them, so they are always deleted with it.

    Raises:
        Stopped: `stop` was set.
        Unreachable, Unusable: the API server does not answer, or refuses a request.
    """
    created: Json = send("POST", _JOBS, {}, job)
    try:
        for each in beside:
            send("POST", _collection(each), {}, _owned(each, created))
        return _wait(send, name(created), stop, seen)
    finally:
        delete_job(send, name(created))


def _collection(item: Mapping[str, Any]) -> str:
    version, plural = str(item["apiVersion"]), f"{str(item['kind']).lower()}s".replace("policys", "policies")
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{base}/namespaces/{NAMESPACE}/{plural}"


def _owned(item: Mapping[str, Any], job: Json) -> Json:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name(job), "uid": str(at(job, "metadata.uid", ""))}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [owner]}}


def delete_job(send: Send, job: str) -> None:
    """Deletes a Job and its Pods; does nothing if the Job does not exist."""
    try:
        send("DELETE", f"{_JOBS}/{job}", {"propagationPolicy": "Background"})
    except Missing:
        return


def _wait(send: Send, job: str, stop: threading.Event, seen: Callable[[str], None]) -> JobOutcome:
    began, absent, last = time.monotonic(), 0, ""
    while not stop.is_set():
        pods = _pods(send, job)
        pod = next((each for each in pods if labels(each).get(INDEX, "0") == "0"), None)
        if failed := next((text for each in pods if each is not pod and (text := _failed(send, each))), ""):
            return JobOutcome("", None, failed)
        if pod is None:
            absent += 1
            late = _late(send, job)
            if late or absent > ABSENT_POLLS:
                return JobOutcome("", None, late or _refusal(send, job) or "the Job made no Pod")
        else:
            result = ended(send, pod)
            if result is not None:
                return result
            if time.monotonic() - began > PLACE_SECONDS:
                refused = next((text for each in pods if (text := _unplaced(each))), "")
                if refused:
                    return JobOutcome("", None, f"the Pod finds no place on the node: {refused}")
            doing = _doing(pod)
            if doing != last:
                seen(doing)
                last = doing
        stop.wait(POLL_SECONDS)
    raise Stopped


def _pods(send: Send, job: str) -> list[Json]:
    found: list[Json] = send("GET", PODS, {"labelSelector": f"job-name={job}"})["items"]
    return found


def _failed(send: Send, pod: Json) -> str:
    """Reason why `pod`, a Job's second or later Pod, has failed; empty if the Pod has not ended or has succeeded."""
    result = ended(send, pod)
    # Output of other ranks than the first one is not needed: the exit code is enough.
    if result is None or result.exit_code == 0 or at(_status(pod), "state.terminated.exitCode") == 0:
        return ""
    why = result.problem or (result.log.strip().splitlines() or [f"exit code {result.exit_code}"])[-1]
    return f"the Pod on {at(pod, 'spec.nodeName', 'the other node')} ended before the first: {why}"


def ended(send: Send, pod: Json) -> JobOutcome | None:
    """Outcome of a check's Pod: its log and exit code, or the reason why it cannot end by itself. None while the Pod
    waits or runs.
    """
    status = _status(pod)
    terminated = at(status, "state.terminated")
    if terminated is not None:
        return _outcome(send, pod, int(terminated["exitCode"]))
    waiting: Json = at(status, "state.waiting", {})
    if waiting.get("reason") in _STUCK:
        return JobOutcome(
            "", None, f"the container cannot start: {waiting['reason']}: {waiting.get('message', '')}".rstrip(": ")
        )
    if at(pod, "status.phase") == "Failed":
        reason, message = at(pod, "status.reason", "Failed"), at(pod, "status.message", "")
        return JobOutcome("", None, f"the Pod was ended: {reason}: {message}".rstrip(": "))
    return None


def _outcome(send: Send, pod: Json, code: int) -> JobOutcome:
    """Outcome of a container that has ended, with its log.

    If the log cannot be read there is no result, and the problem says why.
    """
    try:
        return JobOutcome(str(send("GET", f"{PODS}/{name(pod)}/log", {"container": CONTAINER})), code)
    except (Missing, Unreachable) as refusal:
        said = f"the container ended with exit code {code}, and its log could not be read: {refusal}"
        return JobOutcome("", None, said)


def _late(send: Send, job: str) -> str:
    """Message that the Job has passed its deadline, or that another client deleted it; empty if neither happened."""
    try:
        found: Json = send("GET", f"{_JOBS}/{job}", {})
    except Missing:
        return "another client deleted the Job"
    conditions: list[Json] = at(found, "status.conditions", [])
    if not any(each.get("reason") == "DeadlineExceeded" for each in conditions):
        return ""
    return f"it had not finished after {int(at(found, 'spec.activeDeadlineSeconds', 0)) // 60} minutes, and was stopped"


def _refusal(send: Send, job: str) -> str:
    """Reason why a Job could not create its Pod, or lost it, from the Job's last warning event; empty without such an
    event.
    """
    events: list[Json] = send("GET", f"/api/v1/namespaces/{NAMESPACE}/events", {})["items"]
    mine = [each for each in events if at(each, "involvedObject.name") == job and each.get("type") == "Warning"]
    return str(mine[-1].get("message", "")) if mine else ""


def _unplaced(pod: Json) -> str:
    if at(pod, "status.containerStatuses") is not None:
        return ""
    conditions: list[Json] = at(pod, "status.conditions", [])
    return next(
        (
            str(each.get("message", ""))
            for each in conditions
            if each["type"] == "PodScheduled" and each["status"] == "False"
        ),
        "",
    )


def _doing(pod: Json) -> str:
    if at(_status(pod), "state.running") is not None:
        return "runs"
    return "pulls its image" if at(pod, "spec.nodeName") else "waits for the scheduler"


def _status(pod: Json) -> Json:
    statuses: list[Json] = at(pod, "status.containerStatuses", [])
    return next((each for each in statuses if each["name"] == CONTAINER), dict[str, Any]())
