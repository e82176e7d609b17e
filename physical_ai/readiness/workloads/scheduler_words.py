"""Explanations, from a scheduler's message, of a Pod that waits although its requests, labels and tolerations fit a
node.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.fit import Offer, holds, lacking, requests
from physical_ai.kubernetes.objects import Json, at, condition, labels, matches, name, namespace
from physical_ai.kubernetes.selectors import selects
from physical_ai.readiness.causes import workload_cause_of, workload_causes_of
from physical_ai.readiness.objects import untolerated
from physical_ai.readiness.workloads.clock import longer, seconds
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.queueing import least_of, scheduler_of

SAID = "condition PodScheduled"
GANG = ("are required for gang scheduling", "pods for gang scheduling")
PREEMPTION = " preemption: 0/"
"""Beginning of the second half of a scheduler's message, which says for each node why preemption would not help. The
second half is cut off, because it repeats the reasons of the first half.
"""
NEW = 60.0
"""Seconds in which a scheduler should have considered a new Pod."""


def message_of(pod: Mapping[str, Any]) -> str:
    return str(condition(pod, "PodScheduled").get("message", "") or "")


def is_selected(pod: Mapping[str, Any], node: Json) -> bool:
    selector: Mapping[str, str] = at(pod, "spec.nodeSelector", {})
    return matches(selector, labels(node)) and selects(pod, node)


def beside_others(pod: Mapping[str, Any], message: str, index: Index) -> Iterator[Explanation]:
    """Explanations of a Pod that waits although its requests, labels and tolerations fit a node. The obstacle is a host
    port, another Pod, a volume, or the Pod's group.
    """
    group = index.group(pod)
    reason = str(condition(pod, "PodScheduled").get("reason", "") or "")
    words = message.partition(PREEMPTION)[0]
    causes_and_facts = workload_causes_of("scheduling", f"{reason}: {words}")
    exact = [each for each in causes_and_facts if each[0].id not in _GENERAL]
    if not exact and workload_cause_of("volume", message) is None:
        exact = causes_and_facts
    facts = {"namespace": namespace(pod), "pod": name(pod)}
    for cause, named in exact:
        own = {**facts, **named, **(_ports(pod, index) if cause.id == "host-port" else {})}
        yield index.explanation(subject(pod), cause.id, "scheduling", message, where=SAID, **own)
    if not exact and group is not None and any(each in message for each in GANG):
        least = str(least_of(group))
        yield index.explanation(subject(pod), "gang-does-not-fit", "scheduling", message, where=SAID, least=least)


_GENERAL = ("scheduler-error", "binding-failed")
"""Causes that only name the step at which a scheduler failed. They are used only if the message shows no more specific
cause.
"""


def _ports(pod: Mapping[str, Any], index: Index) -> dict[str, str]:
    """Facts for texts about host ports: the ports that the Pod requests, the Pods that hold these ports, and a command
    that frees a port.
    """
    wanted = host_ports(pod)
    if not index.port_holders:
        for each in filter(holds, index.given.pods):
            for port, _ in host_ports(each):
                index.port_holders.setdefault(port, []).append(f"{namespace(each)}/{name(each)}")
    held = list(dict.fromkeys(each for port, _ in wanted for each in index.port_holders.get(port, ())))
    shown = ", ".join(held[:3]) + (f" and {len(held) - 3} more" if len(held) > 3 else "")
    ports = ", ".join(str(port) for port, _ in wanted) or "(none in its spec)"
    return {"ports": ports, "holders": shown or "none that the API server shows", "free": _deletion(held)}


def _deletion(pods: Sequence[str]) -> str:
    """Command that deletes the first of these Pods, given as NAMESPACE/NAME."""
    where, _, own = pods[0].partition("/") if pods else ("NAMESPACE", "", "POD")
    return f"kubectl -n {where} delete pod {own}"


def host_ports(pod: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Port and protocol of each host port that a Pod requests."""
    containers: list[Json] = [*at(pod, "spec.initContainers", []), *at(pod, "spec.containers", [])]
    on_host = bool(at(pod, "spec.hostNetwork", False))
    return [
        (int(port.get("hostPort") or port.get("containerPort") or 0), str(port.get("protocol") or "TCP"))
        for each in containers
        for port in each.get("ports") or ()
        if port.get("hostPort") or on_host
    ]


def unknown_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanation for a waiting Pod that has no other explanation: the scheduler's message or, without one, the fact
    that the scheduler reports nothing.

    By requests, labels and taints a node would take the Pod, so only the scheduler knows what prevents it.
    """
    scheduled = condition(pod, "PodScheduled")
    facts = {"scheduler": scheduler_of(pod), "namespace": namespace(pod), "pod": name(pod)}
    if scheduled.get("status") == "False":
        message = str(scheduled.get("message") or scheduled.get("reason") or "(no message)")
        yield index.explanation(subject(pod), "scheduler-says", "scheduling", message, where=SAID, **facts)
        return
    created = str(at(pod, "metadata.creationTimestamp", "") or "")
    passed = seconds(created, index.given.now)
    waits = passed is not None and not longer(created, index.given.now, NEW)
    evidence = f"phase: {at(pod, 'status.phase', 'Pending')}, no condition PodScheduled"
    yield index.explanation(
        subject(pod), "scheduler-silent-now" if waits else "scheduler-silent", "gang", evidence,
        where="status of the Pod", since=created or "it was created", **facts,
    )  # fmt: skip


def gang_too_large(pod: Mapping[str, Any], message: str, index: Index) -> Explanation | None:
    """Explanation for a Pod whose group can never start: even with the largest number of nodes, the pools have room
    for fewer Pods than the group needs to start. None for other Pods, and for a group whose Pods request different
    resources.
    """
    group = index.group(pod)
    if group is None:
        return None
    key = (namespace(group), name(group))
    if key not in index.gang_answers:  # the answer is the same for all Pods of the group
        index.gang_answers[key] = _never(pod, group, index)
    facts = index.gang_answers[key]
    return index.explanation(subject(pod), "gang-too-large", "scheduling", message, SAID, **facts) if facts else None


def _never(pod: Mapping[str, Any], group: Mapping[str, Any], index: Index) -> dict[str, str]:
    """Numbers and pools that show that a group is too large ever to start. Empty if the pools have room for the group,
    if no pool fits its Pods, if one Pod is enough to start, or if its Pods have different requests.
    """
    members, least = index.members(group), least_of(group)
    if least < 2 or any(requests(each) != requests(pod) for each in members):
        return {}
    pools = [
        declared
        for declared in index.given.pools
        if is_selected(pod, index.template(declared))
        and not untolerated(at(pod, "spec", {}), index.template(declared))
        and not lacking(requests(pod), Offer.of(index.template(declared)))
    ]
    most = sum(
        max(declared.most, len(index.on_pool(declared.name))) * _per_node(pod, index.template(declared))
        for declared in pools
    )
    if not pools or most >= least:
        return {}
    return {"least": str(least), "most": str(most), "pool": pools[0].name, "pools": _named([p.name for p in pools])}


def _per_node(pod: Mapping[str, Any], node: Json) -> int:
    offer = Offer.of(node)
    each = [offer.free.get(resource, 0) // count for resource, count in requests(pod).items() if count > 0]
    return min([*each, offer.free.get("pods", 0)])


def _named(pools: Sequence[str]) -> str:
    return f"pool{'s' if len(pools) > 1 else ''} {' and '.join(pools)}"
