"""Before a Pod is placed: its creation, its group, its scheduler and its queue. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_QUEUE_LABEL, KAI_SCHEDULER, SCHEDULER
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.evidence import is_available
from physical_ai.readiness.workloads.index import Index, condition, subject
from physical_ai.readiness.workloads.model import Explanation

DEFAULT_SCHEDULER = "default-scheduler"


def scheduler_of(pod: Mapping[str, Any]) -> str:
    return str(at(pod, "spec.schedulerName", "") or DEFAULT_SCHEDULER)


def group_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Why no scheduler looks at a Pod, or none starts it."""
    own, scheduler = subject(pod), scheduler_of(pod)
    gates: list[Json] = at(pod, "spec.schedulingGates", [])
    if gates:
        yield index.explanation(own, "scheduling-gate", "gang", gate=str(gates[0].get("name", "")))
    if scheduler == SCHEDULER:
        down = _scheduler_problem(index)
        if down:
            yield index.explanation(
                own,
                "scheduler-down",
                "gang",
                down,
                scheduler=scheduler,
                schedulerNamespace=KAI_NAMESPACE,
                deployment=KAI_SCHEDULER,
            )
        yield from _incomplete(pod, index)
    elif scheduler != DEFAULT_SCHEDULER and not condition(pod, "PodScheduled"):
        yield index.explanation(
            own, "scheduler-unknown", "gang", f"spec.schedulerName: {scheduler}", scheduler=scheduler
        )


def _scheduler_problem(index: Index) -> str:
    """What is wrong with KAI's Deployment; empty where it is available."""
    found = next(
        (each for each in index.given.deployments if (namespace(each), name(each)) == (KAI_NAMESPACE, KAI_SCHEDULER)),
        None,
    )
    if found is None:
        return f"Deployment {KAI_NAMESPACE}/{KAI_SCHEDULER} does not exist"
    return "" if is_available(found) else f"Deployment {KAI_NAMESPACE}/{KAI_SCHEDULER} has no available replica"


def least_of(group: Mapping[str, Any]) -> int:
    """Pods without which none of the group starts."""
    parts: list[Json] = at(group, "spec.subGroups", [])
    return int(at(group, "spec.minMember", 0) or sum(int(part.get("minMember") or 0) for part in parts) or 1)


def _incomplete(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    group = index.group(pod)
    if group is None:
        return
    present, least = len(index.members(group)), least_of(group)
    if present < least:
        evidence = f"PodGroup {name(group)}: minMember {least}, {present} Pods exist"
        yield index.explanation(
            subject(pod),
            "gang-incomplete",
            "gang",
            evidence,
            group=name(group),
            least=str(least),
            present=str(present),
            namespace=namespace(pod),
        )


def queue_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Why the Pod's queue lets nothing more start."""
    if scheduler_of(pod) != SCHEDULER:
        return
    group = index.group(pod)
    queue = str((at(group, "spec.queue") if group else None) or labels(pod).get(KAI_QUEUE_LABEL) or "default-queue")
    known = {name(each): each for each in index.given.queues}
    message = str(condition(pod, "PodScheduled").get("message", ""))
    if queue not in known:
        yield index.explanation(subject(pod), "queue-missing", "queue", message, queue=queue)
        return
    parent = str(at(known[queue], "spec.parentQueue", "") or "")
    if parent and parent not in known:
        yield index.explanation(subject(pod), "queue-parent-missing", "queue", message, queue=queue, parent=parent)
        return
    found = workload_cause_of("queue", message)
    if found is not None:
        yield index.explanation(subject(pod), found[0].id, "queue", message, queue=queue)


def creation_causes(index: Index, wanted: str = "") -> Iterator[Explanation]:
    """Pods that were never created, by the events of their controllers; with `wanted` only events that name it."""
    for event in index.given.events:
        message, about = str(event.get("message", "")), at(event, "involvedObject", dict[str, Any]())
        if event.get("reason") != "FailedCreate" or wanted not in f"{about.get('name', '')} {message}":
            continue
        found = workload_cause_of("gang", message)
        if found is not None:
            where = str(about.get("namespace", ""))
            item = f"{str(about.get('kind', '')).lower()} {where}/{about.get('name', '')}"
            yield index.explanation(item, found[0].id, "gang", message, namespace=where, **found[1])
