"""Fit of a Pod on a node, with kube-scheduler's message where it does not fit. Pure functions.

The module has the filters of kube-scheduler 1.36 that look at one node alone (pkg/scheduler/framework/plugins), in
kube-scheduler's order; the first filter that refuses a node gives the reason. It does not judge host ports, volumes,
and rules about other Pods (affinity, spread).

    offer = Offer.of(node, pods_on_it)
    why_not(pod, offer)        # () where it fits, else ("Insufficient nvidia.com/gpu",)
    refusal(pod, [offer, b])   # 0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from physical_ai.kubernetes.objects import Json, at, labels, matches, name
from physical_ai.kubernetes.quantities import quantity
from physical_ai.kubernetes.selectors import named_nodes, selects
from physical_ai.kubernetes.taints import tolerates

CPU, PODS = "cpu", "pods"
UNSCHEDULABLE = "node(s) were unschedulable"
NODE_NAME = "node(s) didn't match the requested node name"
TAINT = "node(s) had untolerated taint(s)"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
OTHER_NODE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
CONFLICT = "pod affinity terms conflict"
TOO_MANY = "Too many pods"
NO_NODES = "no nodes available to schedule pods"
POD_LEVEL = ("cpu", "memory", "hugepages-")
"""Resources that `spec.resources` of a Pod may name; `hugepages-` is a prefix."""
FINAL = ("Succeeded", "Failed")
"""Phases of Pods that no longer hold resources."""

Amounts = Mapping[str, int]
"""Amounts of resources, in thousandths of a CPU, bytes, or pieces, rounded up as the scheduler does."""


def amounts(given: Mapping[str, Any] | None) -> Counter[str]:
    """Amounts in a resource list, as the scheduler counts them; a value that is no quantity counts as 0."""
    found = Counter[str]()
    for resource, value in (given or {}).items():
        number = quantity(value)
        found[resource] = math.ceil(number * 1000 if resource == CPU else number) if number is not None else 0
    return found


def requests(pod: Mapping[str, Any]) -> Counter[str]:
    """Requests of a Pod as the scheduler counts them: for each resource the sum of the containers, or the largest
    request of an init container if that is larger. Requests in `spec.resources` replace these numbers; `spec.overhead`
    is added.

    The request of a sidecar (an init container with `restartPolicy: Always`) is added to the sum of the containers, and
    to each init container that starts after the sidecar.
    """
    total = Counter[str]()
    for container in at(pod, "spec.containers", []):
        total += amounts(at(container, "resources.requests"))
    most, sidecars = Counter[str](), Counter[str]()
    for container in at(pod, "spec.initContainers", []):
        asked = amounts(at(container, "resources.requests"))
        if container.get("restartPolicy") == "Always":
            total += asked
            sidecars += asked
            most |= sidecars
        else:
            most |= asked + sidecars
    total |= most
    of_pod = amounts(at(pod, "spec.resources.requests"))
    total.update({key: value - total[key] for key, value in of_pod.items() if key.startswith(POD_LEVEL)})
    return total + amounts(at(pod, "spec.overhead"))


def holds(pod: Mapping[str, Any]) -> bool:
    """True for a Pod that holds resources of the node it is bound to."""
    return bool(at(pod, "spec.nodeName")) and at(pod, "status.phase") not in FINAL


@dataclass(frozen=True)
class Offer:
    """A node, and the resources on it that no Pod holds."""

    node: Mapping[str, Any]
    free: Amounts
    """Free amount of each resource; negative where a node lost resources that its Pods hold."""
    taken: Counter[str] = field(default_factory=Counter[str])
    """Amounts that the node's Pods hold; the key `pods` is their number."""

    @classmethod
    def of(cls, node: Mapping[str, Any], pods: Iterable[Mapping[str, Any]] = ()) -> Offer:
        """Offer of a node with the given Pods; Pods that are not bound to it are ignored."""
        taken = Counter[str]()
        for pod in pods:
            if holds(pod) and at(pod, "spec.nodeName") == name(node):
                taken += requests(pod)
                taken[PODS] += 1
        return cls(node, amounts(at(node, "status.allocatable")), Counter[str]()).with_taken(taken)

    @property
    def name(self) -> str:
        return name(self.node)

    def with_pod(self, pod: Mapping[str, Any]) -> Offer:
        """Offer of the node with one more Pod on it."""
        return self.with_taken(requests(pod) + Counter({PODS: 1}))

    def with_taken(self, more: Amounts) -> Offer:
        left = Counter(dict(self.free))
        left.subtract(dict(more))
        return replace(self, free=left, taken=self.taken + Counter(dict(more)))


def why_not(pod: Mapping[str, Any], offer: Offer) -> tuple[str, ...]:
    """Reasons why the node cannot take the Pod; empty if the node can take the Pod."""
    node, spec = offer.node, at(pod, "spec", {})
    only = named_nodes(pod)
    if only is not None and name(node) not in only:
        return (OTHER_NODE,) if only else (CONFLICT,)
    tolerations: Sequence[Json] = spec.get("tolerations") or ()
    closed = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    if at(node, "spec.unschedulable") and not any(tolerates(each, closed) for each in tolerations):
        return (UNSCHEDULABLE,)
    if spec.get("nodeName") not in (None, "", name(node)):
        return (NODE_NAME,)
    if untolerated(pod, node) is not None:
        return (TAINT,)
    if not matches(spec.get("nodeSelector") or {}, labels(node)) or not selects(pod, node):
        return (AFFINITY,)
    return lacking(requests(pod), offer)


def untolerated(pod: Mapping[str, Any], node: Mapping[str, Any]) -> Json | None:
    """The first taint of the node that keeps the Pod off the node; None if the Pod tolerates all taints."""
    tolerations: Sequence[Json] = at(pod, "spec.tolerations", ())
    for taint in at(node, "spec.taints", ()):
        strict = taint.get("effect") in ("NoSchedule", "NoExecute")
        if strict and not any(tolerates(each, taint) for each in tolerations):
            return taint
    return None


def lacking(asked: Amounts, offer: Offer) -> tuple[str, ...]:
    """Reasons for resources of which the node has too little: `Insufficient memory`, `Too many pods`."""
    full = (TOO_MANY,) if offer.free.get(PODS, 0) < 1 else ()
    return full + tuple(f"Insufficient {key}" for key, value in asked.items() if value > offer.free.get(key, 0))


def fitting(pod: Mapping[str, Any], offers: Iterable[Offer]) -> list[Offer]:
    """Offers of the nodes that can take the Pod."""
    return [offer for offer in offers if not why_not(pod, offer)]


def refusal(pod: Mapping[str, Any], offers: Sequence[Offer]) -> str:
    """Reason why no node can take the Pod: kube-scheduler's message up to the part on preemption; empty where a node
    can.
    """
    reasons = [why_not(pod, offer) for offer in offers]
    if not reasons:
        return NO_NODES
    return "" if () in reasons else unavailable(reasons)


def unavailable(reasons: Sequence[tuple[str, ...]]) -> str:
    """Message from the reasons of each node: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were
    unschedulable.`
    """
    head = f"0/{len(reasons)} nodes are available:"
    return f"{head} {CONFLICT}." if (CONFLICT,) in reasons else f"{head} {counted(reasons)}."


def counted(reasons: Iterable[tuple[str, ...]]) -> str:
    """Reasons with how often each occurs, sorted as text: `1 Insufficient cpu, 2 node(s) were unschedulable`."""
    times = Counter(reason for each in reasons for reason in each)
    return ", ".join(sorted(f"{count} {reason}" for reason, count in times.items()))
