"""Explanations of a Pod that has a node, or has ended: by its node, its end, and its containers. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, is_ready, name, namespace
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.objects import owner
from physical_ai.readiness.workloads.clock import longer, seconds
from physical_ai.readiness.workloads.containers import container_problem, failed_container, of_container, restarts
from physical_ai.readiness.workloads.health import pod_shortfall
from physical_ai.readiness.workloads.index import Index, gpu_resources, subject
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.node_causes import behind_gate, leaving, not_ready

ENDED_STAGES = ("node", "start", "volume", "container")
LATE = 60.0
"""Seconds that a kubelet may need to report that a Pod's containers have ended."""


def running_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why a Pod that has a node does not run, and of problems of this node that affect the Pod."""
    phase, host = at(pod, "status.phase"), str(at(pod, "spec.nodeName", ""))
    shortfall = pod_shortfall(pod)
    if phase == "Succeeded" and not shortfall:
        return
    if at(pod, "metadata.deletionTimestamp"):
        yield from terminating(pod, index)
        if not longer(at(pod, "metadata.deletionTimestamp"), index.given.now, 0):
            return
    if phase in ("Failed", "Succeeded"):
        yield from _ended(pod, host, index)
        return
    node = index.nodes.get(host)
    if node is None:
        where = "spec.nodeName of the Pod"
        yield index.explanation(subject(pod), "node-gone", "node", f"spec.nodeName: {host}", where=where, node=host)
        return
    lost = _node_problem(pod, node, index)
    if lost is not None:
        yield lost
    if not is_ready(node) or at(pod, "metadata.deletionTimestamp"):
        return
    problem = container_problem(pod, index) if shortfall else None
    yield from restarts(pod, index) if problem is None and not shortfall else [problem] if problem is not None else ()


def terminating(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of a Pod that is being deleted.

    The Pod's `deletionTimestamp` is the end of the grace period, not the time of the request for deletion.
    """
    deleted, finalizers = str(at(pod, "metadata.deletionTimestamp", "")), at(pod, "metadata.finalizers", [])
    facts = {"namespace": namespace(pod), "pod": name(pod), "until": deleted, "where": "metadata of the Pod",
             "node": str(at(pod, "spec.nodeName", "") or "(none)")}  # fmt: skip
    evidence = f"deletionTimestamp: {deleted}"
    over = seconds(deleted, index.given.now)
    if over is not None and over > 0 and finalizers:
        held = ", ".join(finalizers)
        yield index.explanation(
            subject(pod), "finalizer", "node", f"{evidence}, finalizers: {held}", finalizer=held, **facts
        )
    elif over is not None and over > LATE:
        yield index.explanation(subject(pod), "terminating-late", "node", evidence, **facts)
    else:
        yield index.explanation(subject(pod), "terminating", "node", evidence, **facts)


def _ended(pod: Mapping[str, Any], host: str, index: Index) -> Iterator[Explanation]:
    """Explanation of why a Pod has failed: the reason in the Pod's own status or, if that names no known cause, the end
    of its failed container.
    """
    target = condition(pod, "DisruptionTarget")
    lines = [str(at(pod, f"status.{key}", "") or "") for key in ("reason", "message")]
    lines += [str(target.get(key, "") or "") for key in ("reason", "message")]
    text = "\n".join(line for line in lines if line)
    container, status = failed_container(pod)
    facts = {"node": host or "(none)", "container": container, "namespace": namespace(pod), "pod": name(pod)}
    said = ": ".join(line for line in lines[:2] if line) or ": ".join(line for line in lines[2:] if line)
    where = "status of the Pod" if any(lines[:2]) else "condition DisruptionTarget"
    for stage in ENDED_STAGES:
        cause_and_facts = workload_cause_of(stage, text) if text else None
        if cause_and_facts is not None:
            own = {**facts, "message": lines[1] or text, **cause_and_facts[1]}
            yield index.explanation(
                subject(pod), cause_and_facts[0].id, cause_and_facts[0].stages[0], said, where=where, **own
            )
            return
    badly = bool(at(status, "state.terminated.exitCode", 0) or at(status, "lastState.terminated.exitCode", 0))
    if lines[0] and not badly:
        yield index.explanation(subject(pod), "kubelet-says", "start", said, where=where, **facts)
    elif badly:
        yield of_container(pod, container, status, index)


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
