"""A Pod's phase as kubectl prints it, and its container that is not ready."""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.kubernetes.objects import at
from physical_ai.readiness.model import Json


def phase(pod: Json) -> str:
    """Phase that `kubectl get pods` shows under STATUS (kubernetes/kubernetes, pkg/printers/internalversion,
    printPod).

    >>> phase({"status": {"phase": "Pending"}})
    'Pending'
    """
    if at(pod, "metadata.deletionTimestamp"):
        return "Terminating"
    init = _init_phase(pod)
    if init:
        return init
    found = str(at(pod, "status.reason") or at(pod, "status.phase", "Pending"))
    statuses: Sequence[Json] = at(pod, "status.containerStatuses", [])
    running = False
    for status in reversed(statuses):
        waiting, ended = at(status, "state.waiting.reason", ""), at(status, "state.terminated", None)
        if waiting:
            found = waiting
        elif ended is not None:
            found = _ended(ended)
        elif status.get("ready") and at(status, "state.running") is not None:
            running = True
    return "Running" if found == "Completed" and running else found


def _init_phase(pod: Json) -> str:
    specs: Sequence[Json] = at(pod, "spec.initContainers", [])
    statuses: Sequence[Json] = at(pod, "status.initContainerStatuses", [])
    sidecars = {each["name"] for each in specs if each.get("restartPolicy") == "Always"}
    for index, status in enumerate(statuses):
        ended = at(status, "state.terminated", None)
        if ended is not None and ended.get("exitCode") == 0:
            continue
        if status["name"] in sidecars and status.get("started"):
            continue
        if ended is not None:
            return f"Init:{_ended(ended)}"
        waiting = at(status, "state.waiting.reason", "")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(specs) or len(statuses)}"
    return ""


def _ended(state: Json) -> str:
    if state.get("reason"):
        return str(state["reason"])
    signal = state.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{state.get('exitCode')}"


def unfinished(pod: Json) -> tuple[str, Json]:
    """Name and status of the container that the Pod waits for: the first init container that has not succeeded, or the
    first other container that is not ready.

    Without such a container, the name is empty for a Pod that runs. For a Pod whose status lists no containers yet, the
    result is the first container of its spec with an empty status.
    """
    for key in ("initContainerStatuses", "containerStatuses"):
        statuses: Sequence[Json] = at(pod, f"status.{key}", [])
        for status in statuses:
            done = at(status, "state.terminated.exitCode") == 0 if key.startswith("init") else bool(status.get("ready"))
            if not (done or (key.startswith("init") and status.get("started") and status.get("ready"))):
                return str(status["name"]), status
    if is_running(pod):
        return "", {}
    specs: Sequence[Json] = [*at(pod, "spec.initContainers", []), *at(pod, "spec.containers", [])]
    return (str(specs[0]["name"]) if specs else ""), {}


def active_container(pod: Json) -> str:
    """Name of the container that runs or fails and has not finished; empty where none could start."""
    container, status = unfinished(pod)
    waiting = at(status, "state.waiting.reason", "CrashLoopBackOff") != "CrashLoopBackOff"
    return "" if waiting or not status else container


def is_running(pod: Json) -> bool:
    """True where every container of the Pod runs and is ready."""
    conditions: Sequence[Json] = at(pod, "status.conditions", [])
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    statuses: Sequence[Json] = at(pod, "status.containerStatuses", [])
    return at(pod, "status.phase") == "Running" and (
        ready or (bool(statuses) and all(s.get("ready") for s in statuses))
    )
