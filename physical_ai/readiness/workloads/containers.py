"""Explanations of containers that do not start, or that ended. They come from the kubelet's message, the container's
last message and the container's log. Pure functions.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, name, namespace
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.events import ROUTINE
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.phase import unfinished
from physical_ai.readiness.workloads.clock import longer
from physical_ai.readiness.workloads.health import sidecars
from physical_ai.readiness.workloads.index import Index, gpu_resources, last_lines, subject
from physical_ai.readiness.workloads.model import Explanation

NOT_STARTED = ("ContainerCreating", "PodInitializing")
BEFORE = ("FailedScheduling", "NotTriggerScaleUp", "Unschedulable", "FailedBinding", "BindingError")
"""Reasons of events that a Pod gets before it has a node."""
LAST_LINES = 60
"""Number of last log lines that are searched for the cause of a container's end. The cause may be far from the end,
because launchers write a summary below a traceback.
"""
SHOWN_LINES = 3
"""Number of log lines that are shown if no known line is among them."""
SLOW = 1800.0
"""Seconds after which a Pod with a node should have started: pulling images of tens of GB takes minutes."""
UNREADY = 600.0
"""Seconds since a container's start after which a failing readiness probe is a problem; before that, the container
counts as starting.
"""
RECENT = 600.0
"""Largest age in seconds at which a container's last end counts as recent. A kubelet waits at most half of this time
before it restarts a container, so a container that fails again and again always has a recent end.
"""
GRID = "grid"


def container_problem(pod: Mapping[str, Any], index: Index) -> Explanation | None:
    """Explanation of why a Pod on a working node is not ready; None if the Pod has ended, or if neither a container nor
    a readiness gate shows why.
    """
    container, status = unfinished(pod)
    if at(pod, "status.phase", "Pending") not in ("Pending", "Running"):
        return None
    if not container:
        return _readiness_gate(pod, index)
    waiting = str(at(status, "state.waiting.reason", "") or "")
    if not status or (waiting and waiting != "CrashLoopBackOff"):
        return _of_start(pod, container, status, index)
    if at(status, "state.running") is None:
        return of_container(pod, container, status, index)
    ended = at(status, "lastState.terminated.finishedAt")
    if at(status, "lastState.terminated") and not longer(ended, index.given.now, RECENT):
        return of_container(pod, container, status, index)
    return _not_ready(pod, container, index)


def _not_ready(pod: Mapping[str, Any], container: str, index: Index) -> Explanation:
    facts = _facts(pod, container)
    inits = {str(each["name"]) for each in at(pod, "spec.initContainers", [])}
    if container in inits - sidecars(pod):
        return index.explanation(subject(pod), "init-running", "start", **facts)
    ready = condition(pod, "Ready")
    since = str(ready.get("lastTransitionTime", "") or "")
    late = longer(since, index.given.now, UNREADY)
    probes = [str(each.get("message", "")) for each in index.events("Pod", pod, "Unhealthy")]
    evidence, where = (probes[-1], "event Unhealthy") if probes else (str(ready.get("message", "")), "condition Ready")
    return index.explanation(
        subject(pod), "unready" if late else "not-ready", "container", evidence, where=where, since=since, **facts
    )


def _readiness_gate(pod: Mapping[str, Any], index: Index) -> Explanation | None:
    """Explanation of a Pod whose containers are ready, but whose readiness gates are not: it names the conditions that
    other controllers have not set. None if the Pod is ready, or if all these conditions are set.
    """
    gates = [str(each.get("conditionType", "")) for each in at(pod, "spec.readinessGates", [])]
    shut = [each for each in gates if condition(pod, each).get("status") != "True"]
    if not shut or condition(pod, "Ready").get("status") == "True":
        return None
    evidence = str(condition(pod, "Ready").get("message", ""))
    return index.explanation(
        subject(pod), "readiness-gate", "container", evidence, where="condition Ready", gates=", ".join(shut)
    )


def restarts(pod: Mapping[str, Any], index: Index) -> Iterable[Explanation]:
    """Explanations of a Pod that is ready now, for each container with 3 or more restarts and a recent end."""
    statuses: list[Json] = at(pod, "status.containerStatuses", [])
    for status in statuses:
        ended: Json = at(status, "lastState.terminated") or {}
        count = int(status.get("restartCount") or 0)
        if count < 3 or not ended or longer(ended.get("finishedAt"), index.given.now, RECENT):
            continue
        evidence = f"restartCount: {count}, lastState: {ended.get('reason', '')} {ended.get('message', '')}".strip()
        facts = {"count": str(count), "ended": str(ended.get("finishedAt") or "an unknown time"),
                 "code": _code(ended), **_facts(pod, str(status["name"]))}  # fmt: skip
        yield index.explanation(subject(pod), "restarting", "container", evidence, where="container status", **facts)


def _of_start(pod: Mapping[str, Any], container: str, status: Mapping[str, Any], index: Index) -> Explanation:
    """Explanation of a container that has not started. The explanation is made from the reason that the kubelet gives
    for the waiting container and, if no known cause fits the reason, from the Pod's last events about problems.
    """
    waiting = str(at(status, "state.waiting.reason", "") or "")
    facts = {"image": _image(pod, container), **_facts(pod, container)}
    told = [(f"{waiting}: {at(status, 'state.waiting.message', '') or ''}", f"state of container {container}")]
    lines = told if waiting not in (*NOT_STARTED, "") else []
    lines += [(f"{each.get('reason')}: {each.get('message', '')}", f"event {each.get('reason')}")
              for each in reversed(_troubles(pod, index)[-3:])]  # fmt: skip
    for line, where in lines:
        found = workload_cause_of("start", line) or workload_cause_of("container", line)
        if found is not None:
            return index.explanation(
                subject(pod), found[0].id, found[0].stages[0], line, where=where, **{**facts, **found[1]}
            )
    if lines:
        return index.explanation(subject(pod), "kubelet-says", "start", lines[0][0], where=lines[0][1], **facts)
    since = str(condition(pod, "PodScheduled").get("lastTransitionTime") or at(pod, "status.startTime", "") or "")
    cause = "start-slow" if longer(since, index.given.now, SLOW) else "starting"
    return index.explanation(
        subject(pod), cause, "start", waiting, where=f"state of container {container}", since=since, **facts
    )


def _troubles(pod: Mapping[str, Any], index: Index) -> list[Json]:
    """Events that report problems of a Pod, oldest first, except events from before the Pod had a node."""
    found = [each for each in index.events("Pod", pod) if each.get("reason") not in (*ROUTINE, *BEFORE)]
    return [each for each in found if each.get("type") != "Normal"]


def of_container(
    pod: Mapping[str, Any], container: str, status: Mapping[str, Any], index: Index, stage: str = "container"
) -> Explanation:
    """Explanation of a container that ended: from its reason, its last message, its log, and what the kubelet says
    about its end.
    """
    ended: Mapping[str, Any] = at(status, "state.terminated") or at(status, "lastState.terminated") or {}
    log = index.given.logs.get((namespace(pod), name(pod), container), "")
    state, read = f"state of container {container}", f"log of container {container}"
    lines = [(_words(ended), state)]
    lines += [(line.strip(), read) for line in reversed(log.splitlines()[-LAST_LINES:])]
    lines += [(_words(at(status, "state.waiting") or {}), state)]
    lines += [(str(each.get("message", "")), "event Killing") for each in index.events("Pod", pod, "Killing")[-1:]]
    facts = _facts(pod, container)
    for line, where in lines:
        found = workload_cause_of("container", line) if line else None
        if found is not None:
            cause = _cause(found[0].id, pod, index)
            return index.explanation(subject(pod), cause, "container", line, where=where, **{**facts, **found[1]})
    previous = "" if at(status, "state.terminated") else " --previous"
    own = next((line for line, where in lines if line and where != read), "")
    shown, where = (log, read) if log.strip() else (own, f"{state}; it wrote no log, or it was not read")
    told = {"code": _code(ended), "previous": previous, **facts}
    found = index.explanation(subject(pod), "failed", stage, shown, where, **told)
    return replace(found, evidence=last_lines(shown, SHOWN_LINES))


def _cause(found: str, pod: Mapping[str, Any], index: Index) -> str:
    """Id of the cause that a message indicates, made more specific for this Pod and its node."""
    if found == "no-device" and not gpu_resources(pod):
        return "no-gpu-requested"
    if found == "device-busy":
        pool = pool_of(index.nodes.get(str(at(pod, "spec.nodeName", "")), {}))
        if any(report.pool == pool and report.driver_source == GRID for report in index.given.reports):
            return "licence-lost"
    return found


def failed_container(pod: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Name and status of the Pod's failed container; a sidecar only if no other container failed. Without a failed
    container, name and status of the container that is not ready.
    """
    beside, found = sidecars(pod), list[Json]()
    for key in ("initContainerStatuses", "containerStatuses"):
        statuses: list[Json] = at(pod, f"status.{key}", [])
        found += [status for status in statuses if at(status, "state.terminated.exitCode", 0) != 0]
    if found:
        first = min(found, key=lambda each: each["name"] in beside)
        return str(first["name"]), first
    return unfinished(pod)


def _words(state: Mapping[str, Any]) -> str:
    return f"{state.get('reason') or ''}: {state.get('message') or ''}".strip(" :")


def _code(ended: Mapping[str, Any]) -> str:
    """Exit code as text, with the signal that it stands for: `137 (SIGKILL)`."""
    code = ended.get("exitCode")
    if not isinstance(code, int):
        return "unknown"
    known = {each.value: each.name for each in signal.Signals}
    return f"{code} ({known[code - 128]})" if code - 128 in known else str(code)


def _facts(pod: Mapping[str, Any], container: str) -> dict[str, str]:
    return {
        "container": container,
        "node": str(at(pod, "spec.nodeName", "") or "(none)"),
        "namespace": namespace(pod),
        "pod": name(pod),
    }


def _image(pod: Mapping[str, Any], container: str) -> str:
    specs: list[Json] = [*at(pod, "spec.initContainers", []), *at(pod, "spec.containers", [])]
    return next((str(each.get("image", "")) for each in specs if each["name"] == container), "")
