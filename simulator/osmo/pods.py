"""State of a task's Pod, reduced to what OSMO's service reads. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.osmo import workflow as of
from simulator.osmo_names import CONTROL_CONTAINER

UNKNOWN_CODE = 4000
"""Exit code that OSMO gives a failed Pod of which no container has one (FAILED_UNKNOWN)."""


@dataclass(frozen=True)
class Seen:
    """State of a task's Pod that OSMO's service reads."""

    node: str
    running: bool
    exit_code: int | None
    """Exit code of the user's container, or OSMO's own for a Pod that was ended; None before either."""
    message: str
    """Termination message of the user's container."""
    waits: str
    """Scheduler's reason why the Pod has no node; empty if there is none."""
    failure: str = ""
    """OSMO's status of a Pod that did not end by itself; empty for other Pods."""


def seen(pod: Mapping[str, Any]) -> Seen:
    """State of a task's Pod, without the details that OSMO's service does not read."""
    spec, status = pod["spec"], pod.get("status", {})
    statuses: list[Mapping[str, Any]] = status.get("containerStatuses") or []
    (own,) = [each for each in statuses if each["name"] != CONTROL_CONTAINER][:1] or [{}]
    ended: Mapping[str, Any] = own.get("state", {}).get("terminated") or {}
    code = ended.get("exitCode")
    before = _failed_init(status)
    if code is None and before is not None:
        code, ended = before["exitCode"], before
    failure, own_code = _failure(status)
    if code is None and status.get("phase") == "Failed":
        code = UNKNOWN_CODE
    return Seen(
        node=str(spec.get("nodeName", "")),
        running=status.get("phase") == "Running",
        exit_code=own_code or code,
        message=str(ended.get("message") or status.get("message") or ""),
        waits=_waits(status),
        failure=failure,
    )


def _failure(status: Mapping[str, Any]) -> tuple[str, int | None]:
    """OSMO's status and exit code of a Pod that Kubernetes or the scheduler ends, also while its containers still run;
    an empty status and None for other Pods (NVIDIA/OSMO 6.3.1, src/operator/backend_listener.py, calculate_pod_status).
    """
    conditions = [each for each in status.get("conditions") or () if each["status"] == "True"]
    if any(each.get("reason") == "PreemptionByScheduler" for each in conditions):
        return of.PREEMPTED, of.PREEMPTED_CODE
    if status.get("reason") == "Evicted":
        return of.EVICTED, of.EVICTED_CODE
    if any(each["type"] == "DisruptionTarget" for each in conditions):
        return of.BACKEND_ERROR, of.BACKEND_ERROR_CODE
    return "", None


def _failed_init(status: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """State of an init container that failed; None if no init container failed. It is not known how OSMO itself reports
    such a failure.
    """
    statuses: list[Mapping[str, Any]] = status.get("initContainerStatuses") or []
    states: list[Mapping[str, Any]] = [each.get("state", {}).get("terminated") or {} for each in statuses]
    return next((each for each in states if each.get("exitCode")), None)


def _waits(status: Mapping[str, Any]) -> str:
    conditions: list[Mapping[str, Any]] = status.get("conditions") or []
    found = (each for each in conditions if each["type"] == "PodScheduled" and each["status"] == "False")
    # KAI's message has several lines, each ending with a dot.
    return next((" ".join(str(each.get("message", "")).split()).rstrip(".") for each in found), "")
