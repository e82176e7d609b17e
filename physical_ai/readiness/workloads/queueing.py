"""Explanations of what happens before a Pod is placed: its group, its scheduler and its queue. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_QUEUE_LABEL, KAI_SCHEDULER, SCHEDULER
from physical_ai.kubernetes.objects import Json, at, condition, labels, name, namespace
from physical_ai.kubernetes.quantities import quantity
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.evidence import is_available
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.platform_causes import SCHEDULING, parts_of

DEFAULT_SCHEDULER = "default-scheduler"
_LIMIT = re.compile(
    r"Limit is (?P<most>[\d.]+) (?P<resource>GPUs|cores|GB), currently \S+ \w+ allocated and workload requested"
    r" (?P<asked>[\d.]+)"
)
_GUARANTEE = re.compile(
    r"Workload requested (?P<asked>[\d.]+) (?P<resource>GPUs|CPU cores|GB memory), but \S+ quota is (?P<most>[\d.]+)"
)
"""Expression for a message about a queue's quota (KAI Scheduler v0.17.0, pkg/scheduler/api/unschedule_info.go)."""


def scheduler_of(pod: Mapping[str, Any]) -> str:
    return str(at(pod, "spec.schedulerName", "") or DEFAULT_SCHEDULER)


def group_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why no scheduler considers a Pod or its group: a scheduling gate, a scheduler that is unknown or
    does not run, or a group that lacks Pods.
    """
    own, scheduler = subject(pod), scheduler_of(pod)
    gates: list[Json] = at(pod, "spec.schedulingGates", [])
    if gates:
        names = ", ".join(str(each.get("name", "")) for each in gates)
        facts = {"gate": names, "namespace": namespace(pod), "pod": name(pod)}
        yield index.explanation(own, "scheduling-gate", "gang", where="spec of the Pod", **facts)
    yield from _told(pod, index)
    if scheduler == SCHEDULER:
        down, parts = _scheduler_problem(index), list(parts_of(own, SCHEDULING, index))
        yield from parts
        if down and not parts:
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


def _told(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations from messages of a scheduler, or of KAI's pod grouper, about the Pod's group."""
    group, facts = index.group(pod), {"namespace": namespace(pod), "pod": name(pod)}
    lines = [(str(condition(pod, "PodScheduled").get("message", "") or ""), "condition PodScheduled")]
    events = index.events("Pod", pod, "PodGrouperWarning")[-1:]
    if group is None:
        lines += [(f"{each.get('reason')}: {each.get('message', '')}", "event PodGrouperWarning") for each in events]
    else:
        stale = index.events("PodGroup", group, "StaleJob")[-1:]
        lines += [(str(each.get("message", "")), "event StaleJob of the PodGroup") for each in stale]
    for line, where in lines:
        cause_and_facts = workload_cause_of("gang", line) if line else None
        if cause_and_facts is not None and not cause_and_facts[0].id.startswith("creation-"):
            yield index.explanation(subject(pod), cause_and_facts[0].id, "gang", line, where=where, **facts)


def _scheduler_problem(index: Index) -> str:
    """Problem of the Deployment of KAI's scheduler; empty if the Deployment is available."""
    if index.given.deployments is None:
        return ""
    wanted = (KAI_NAMESPACE, KAI_SCHEDULER)
    found = next((each for each in index.given.deployments if (namespace(each), name(each)) == wanted), None)
    if found is None:
        return f"Deployment {KAI_NAMESPACE}/{KAI_SCHEDULER} does not exist"
    return "" if is_available(found) else f"Deployment {KAI_NAMESPACE}/{KAI_SCHEDULER} has no available replica"


def least_of(group: Mapping[str, Any]) -> int:
    """Number of Pods that a group needs to start; with fewer, none of its Pods starts."""
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
    """Explanations of why the Pod's KAI queue does not let the Pod start: the queue is missing, has no parent or has
    child queues, or its limit or quota is reached.
    """
    if scheduler_of(pod) != SCHEDULER:
        return
    group = index.group(pod)
    queue = str((at(group, "spec.queue") if group else None) or labels(pod).get(KAI_QUEUE_LABEL) or "default-queue")
    known = {name(each): each for each in index.given.queues or ()}
    message, where = _said(pod, group)
    facts = {"queue": queue, "namespace": namespace(pod), "pod": name(pod), "where": where}
    if queue not in known and index.given.queues is not None:
        yield index.explanation(subject(pod), "queue-missing", "queue", message, **facts)
        return
    if known and (parent := _missing_parent(queue, known)):
        yield index.explanation(subject(pod), "queue-parent-missing", "queue", message, parent=parent, **facts)
        return
    below = sorted(own for own, each in known.items() if at(each, "spec.parentQueue") == queue)
    if below:
        children = ", ".join(below[:3]) + (f" and {len(below) - 3} more" if len(below) > 3 else "")
        yield index.explanation(
            subject(pod), "queue-not-leaf", "queue", message, children=children, child=below[0], **facts
        )
        return
    found = workload_cause_of("queue", message)
    if found is not None:
        cause, amounts = _never(found[0].id, message)
        yield index.explanation(subject(pod), cause, "queue", message, **facts, **amounts)


def _said(pod: Mapping[str, Any], group: Mapping[str, Any] | None) -> tuple[str, str]:
    """KAI's message about why a Pod waits in its queue, and where the message was read: the Pod's condition or, if only
    the status of the Pod's group shows a known cause, that status.
    """
    message = str(condition(pod, "PodScheduled").get("message", "") or "")
    said: list[Json] = at(group or {}, "status.schedulingConditions", [])
    if workload_cause_of("queue", message) is None and said:
        reasons: list[Json] = said[-1].get("reasons") or []
        told = "; ".join(f"{each.get('reason', '')}: {each.get('message', '')}" for each in reasons)
        own = told or f"{said[-1].get('reason', '')}: {said[-1].get('message', '')}"
        if workload_cause_of("queue", own) is not None:
            return own, "status of the PodGroup"
    return message, "condition PodScheduled"


def _never(cause: str, message: str) -> tuple[str, dict[str, str]]:
    """Id and facts of the cause of a waiting Pod. If the Pod's request alone exceeds the queue's limit or quota,
    waiting cannot help: the result is the cause that says so, with the amounts. In all other cases, the result is
    `cause` without facts.
    """
    match = _LIMIT.search(message) or _GUARANTEE.search(message)
    if match is None or quantity(match["asked"]) is None or quantity(match["most"]) is None:
        return cause, {}
    asked, most = quantity(match["asked"]) or 0, quantity(match["most"]) or 0
    if asked <= most:
        return cause, {}
    amounts = {key: value for key, value in match.groupdict().items() if value}
    return {"queue-limit": "queue-over-limit", "queue-quota": "queue-over-quota"}.get(cause, cause), amounts


def _missing_parent(queue: str, known: Mapping[str, Json]) -> str:
    """Name of the first queue that does not exist, from `queue` upwards through its parents; empty if all exist. KAI
    ignores all queues below a missing queue.
    """
    seen: set[str] = set()
    while queue in known and queue not in seen:
        seen.add(queue)
        queue = str(at(known[queue], "spec.parentQueue", "") or "")
    return "" if queue in known else queue
