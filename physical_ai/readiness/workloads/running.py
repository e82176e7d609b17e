"""A Pod that has a node: the node, the start of its containers, and the containers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, is_ready, name, namespace
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.objects import owner
from physical_ai.readiness.phase import is_running, unfinished
from physical_ai.readiness.workloads.index import ROUTINE, Index, condition, gpu_resources, subject
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.node_causes import behind_gate, leaving, not_ready

NOT_STARTED = ("ContainerCreating", "PodInitializing")
LAST_LINES = 20
"""Of a log, in which the cause of a container's end is looked for."""
ENDED_STAGES = ("node", "start", "container")


def running_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Why a Pod with a node does not run, or what it runs on is not as it was."""
    phase, host = at(pod, "status.phase"), str(at(pod, "spec.nodeName", ""))
    if phase == "Succeeded":
        return
    yield from _terminating(pod, index)
    node = index.nodes.get(host)
    if phase == "Failed":
        yield _ended(pod, host, index)
        return
    if node is None:
        yield index.explanation(subject(pod), "node-gone", "node", f"spec.nodeName: {host}", node=host)
        return
    lost = _node_problem(pod, node, index)
    if lost is not None:
        yield lost
    if is_ready(node) and not is_running(pod):
        found = _container_problem(pod, index)
        if found is not None:
            yield found


def _terminating(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """The API server sets the deletion's time to the end of the grace period."""
    deleted, finalizers = str(at(pod, "metadata.deletionTimestamp", "") or ""), at(pod, "metadata.finalizers", [])
    if deleted and finalizers and deleted < index.given.now:
        evidence = f"deletionTimestamp: {deleted}, finalizers: {', '.join(finalizers)}"
        yield index.explanation(subject(pod), "finalizer", "node", evidence, finalizer=", ".join(finalizers))


def _ended(pod: Mapping[str, Any], host: str, index: Index) -> Explanation:
    """Why a Pod has failed: the kubelet's or a controller's reason, else its container's."""
    target = condition(pod, "DisruptionTarget")
    lines = [str(at(pod, f"status.{key}", "") or "") for key in ("reason", "message")]
    lines += [str(target.get(key, "")) for key in ("reason", "message")]
    text = "\n".join(line for line in lines if line)
    for stage in ENDED_STAGES:
        found = workload_cause_of(stage, text) if text else None
        if found is not None:
            facts = {"resource": "ephemeral-storage", **found[1]}
            return index.explanation(
                subject(pod), found[0].id, stage, lines[1] or text, node=host, container=_failed(pod)[0], **facts
            )
    container, status = _failed(pod)
    return _of_container(pod, container, status, "container", index)


def _failed(pod: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The container that ended badly; the one that is not ready where none did."""
    for key in ("initContainerStatuses", "containerStatuses"):
        statuses: list[Json] = at(pod, f"status.{key}", [])
        for status in statuses:
            if at(status, "state.terminated.exitCode", 0) != 0:
                return str(status["name"]), status
    return unfinished(pod)


def _node_problem(pod: Mapping[str, Any], node: Json, index: Index) -> Explanation | None:
    leaves = leaving(subject(pod), node, index) if not owner(pod) else None
    if leaves is not None:
        return leaves
    if not is_ready(node):
        return not_ready(subject(pod), node, index)
    gate = index.gates.get(name(node))
    if gate is None or not gpu_resources(pod) or owner(pod):
        return None
    return behind_gate(subject(pod), "gpu-lost", "node", gate, index)


def _container_problem(pod: Mapping[str, Any], index: Index) -> Explanation | None:
    container, status = unfinished(pod)
    if not container:
        return None
    waiting = str(at(status, "state.waiting.reason", "") or "")
    if not status or (waiting and waiting != "CrashLoopBackOff"):
        return _of_start(pod, container, status, index)
    if at(status, "state.running") is not None and not at(status, "lastState.terminated"):
        is_init = any(each["name"] == container for each in at(pod, "spec.initContainers", []))
        return index.explanation(
            subject(pod),
            "init-running" if is_init else "not-ready",
            "start" if is_init else "container",
            container=container,
            namespace=namespace(pod),
            pod=name(pod),
        )
    return _of_container(pod, container, status, "container", index)


def _of_start(pod: Mapping[str, Any], container: str, status: Mapping[str, Any], index: Index) -> Explanation:
    """A container that has not started: the kubelet's reason, or the Pod's last event of trouble."""
    waiting, host = str(at(status, "state.waiting.reason", "") or ""), str(at(pod, "spec.nodeName", ""))
    own = waiting not in (*NOT_STARTED, "")
    events = [each for each in index.events("Pod", pod) if each.get("reason") not in ROUTINE]
    lines = [f"{waiting}: {at(status, 'state.waiting.message', '')}"] if own else []
    lines += [f"{each.get('reason')}: {each.get('message', '')}" for each in reversed(events[-3:])]
    for line in lines:
        found = workload_cause_of("start", line) or workload_cause_of("container", line)
        if found is not None:
            facts = {"image": _image(pod, container), "node": host, "container": container, **found[1]}
            return index.explanation(
                subject(pod), found[0].id, found[0].stages[0], line, namespace=namespace(pod), pod=name(pod), **facts
            )
    if own:
        return _of_container(pod, container, status, "start", index)
    return index.explanation(
        subject(pod), "starting", "start", waiting, node=host, namespace=namespace(pod), pod=name(pod)
    )


def _of_container(
    pod: Mapping[str, Any], container: str, status: Mapping[str, Any], stage: str, index: Index
) -> Explanation:
    """A container that ended: by its reason, its last message and its log."""
    ended: Mapping[str, Any] = at(status, "state.terminated") or at(status, "lastState.terminated") or {}
    waiting: Mapping[str, Any] = at(status, "state.waiting") or {}
    log = index.given.logs.get((namespace(pod), name(pod), container), "")
    lines = [
        f"{ended.get('reason', '')}: {ended.get('message', '')}",
        *reversed(log.splitlines()[-LAST_LINES:]),
        f"{waiting.get('reason', '')}: {waiting.get('message', '')}",
    ]
    facts = {
        "container": container,
        "node": str(at(pod, "spec.nodeName", "")),
        "namespace": namespace(pod),
        "pod": name(pod),
    }
    for line in (line.strip(" :") for line in lines):
        found = workload_cause_of("container", line) if line else None
        if found is not None:
            cause = "no-gpu-requested" if found[0].id == "no-device" and not gpu_resources(pod) else found[0].id
            return index.explanation(subject(pod), cause, "container", line, **{**facts, **found[1]})
    code = str(ended.get("exitCode", "?"))
    evidence = next((line.strip(" :") for line in lines if line.strip(" :")), "")
    return index.explanation(subject(pod), "failed", stage, evidence, code=code, **facts)


def _image(pod: Mapping[str, Any], container: str) -> str:
    specs: list[Json] = [*at(pod, "spec.initContainers", []), *at(pod, "spec.containers", [])]
    return next((str(each.get("image", "")) for each in specs if each["name"] == container), "")
