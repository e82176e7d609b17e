"""Nodes that fit a Pod, and KAI's messages if none does. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/api/common_info/pod_errors.go, plugins/predicates,
k8s_internal/predicates/maxNodeResources.go and scheduler_util. It runs the filters of Kubernetes v1.35.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.fit import (
    AFFINITY,
    CONFLICT,
    CPU,
    OTHER_NODE,
    PODS,
    TOO_MANY,
    UNSCHEDULABLE,
    Amounts,
    Offer,
    amounts,
    lacking,
    requests,
    why_not,
)
from physical_ai.kubernetes.selectors import named_nodes
from simulator.cluster.objects import Json, at, name
from simulator.scheduling.kai.queues import GPU, GPU_RESOURCES, MEMORY, UNITS, human, share_of

NOT_FOUND = "no nodes with enough resources were found"
WORDS = {**dict.fromkeys(GPU_RESOURCES, "GPUs"), CPU: "CPU cores"}
"""KAI's names for the resources that KAI does not call by their Kubernetes names."""
STORAGE = ("ephemeral-storage", "storage")
NODE_POOL = "default"
"""KAI's name for the pool of all nodes, which exists as long as no label divides the nodes into several pools."""
PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def takes(pod: Mapping[str, Any], offer: Offer) -> bool:
    return not node_reasons(pod, requests(pod), offer)


def preference(pod: Mapping[str, Any], offer: Offer) -> tuple[Any, ...]:
    """Sort key of nodes for a Pod: Pods without GPUs prefer nodes without GPUs; all Pods prefer the fullest node (bin
    packing).
    """
    gpus = sum(offer.free.get(each, 0) for each in GPU_RESOURCES)
    asks = any(requests(pod)[each] > 0 for each in GPU_RESOURCES)
    total = gpus + sum(offer.taken[each] for each in GPU_RESOURCES)
    return (gpus, offer.name) if asks else (total > 0, offer.free.get(CPU, 0), offer.name)


def fit_message(pod: Mapping[str, Any], offers: Sequence[Offer]) -> str:
    """Reason why no node fits a Pod. It is a condition that no node could meet or, if there is none, the number of
    nodes that lack each resource.
    """
    hopeless = list(_hopeless(pod, offers))
    if hopeless:
        where = f"{at(pod, 'metadata.namespace')}/{name(pod)}"
        lines = "".join(f"{check}: {problem}.\n" for check, problem in hopeless)
        return f"Scheduling conditions were not met for pod {where}:\n{lines}"
    asked = requests(pod)
    reasons = Counter(reason for offer in offers for reason in node_reasons(pod, asked, offer))
    return f"{NOT_FOUND}: " + ". \n".join(sorted(f"{count} {reason}" for reason, count in reasons.items())) + "."


def _hopeless(pod: Mapping[str, Any], offers: Sequence[Offer]) -> Iterator[tuple[str, str]]:
    """Reasons why no node can ever fit a Pod, each with KAI's message: the Pod's node affinity contradicts itself, or
    the Pod requests more of a resource than any node has.
    """
    if named_nodes(pod) == set():
        yield "NodeAffinity", CONFLICT
    asked = _counted(requests(pod)) | {PODS: 1}
    nodes = [_counted(amounts(at(offer.node, "status.allocatable"))) for offer in offers]
    most = {key: max((node.get(key, 0) for node in nodes), default=0) for key in asked}
    own = ((GPU, "GPU", 1, ""), (CPU, "CPU", 1000, "cores"), (MEMORY, MEMORY, 10**9, "GB"))
    others = ((key, key, 10**9 if key in STORAGE else 0, "GB" if key in STORAGE else "") for key in sorted(asked))
    for key, called, size, unit in (*own, *(each for each in others if each[0] not in UNITS)):
        if asked.get(key, 0) > most.get(key, 0):
            yield "MaxNodePoolResources", f"{_demand(pod, asked)}. {_topped(called, most.get(key, 0), size, unit)}"
            return


def _counted(given: Amounts) -> dict[str, float]:
    """The amounts in `given`, with the GPUs of all vendors added up as one resource."""
    others = {key: value for key, value in given.items() if key not in GPU_RESOURCES}
    return {**others, GPU: sum(given.get(each, 0) for each in GPU_RESOURCES)}


def _demand(pod: Mapping[str, Any], asked: Mapping[str, float]) -> str:
    gpus, cores, memory = share_of(requests(pod))[GPU], asked.get(CPU, 0), asked.get(MEMORY, 0)
    others = [
        f", {key}: {human(value, 10**9)} (GB)" if key in STORAGE else f", {key}: {human(value)}"
        for key, value in sorted(asked.items())
        if key not in UNITS and value and not key.startswith("nvidia.com/mig-")
    ]
    mig = [f", mig {key}: {value:g}" for key, value in sorted(asked.items()) if key.startswith("nvidia.com/mig-")]
    return (
        f"The pod {at(pod, 'metadata.namespace')}/{name(pod)} requires GPU: {human(gpus)}, CPU: {human(cores, 1000)}"
        f" (cores), memory: {human(memory, 10**9)} (GB){''.join((*others, *mig))}"
    )


def _topped(resource: str, most: float, size: int, unit: str) -> str:
    """KAI's message that a Pod requests more of a resource than any node has. The message names the largest amount,
    unless the resource has no unit.
    """
    if not most or not size:
        return f"No node in the {NODE_POOL} node-pool has {resource} resources"
    amount = f"{human(most, size)} {unit}".rstrip()
    return f"Max {resource} resources available in a single node in the {NODE_POOL} node-pool is topped at {amount}"


def node_reasons(pod: Mapping[str, Any], asked: Amounts, offer: Offer) -> list[str]:
    """Reasons why a node does not fit a Pod; empty if it does. Resources are checked first."""
    short = [PODS if reason == TOO_MANY else reason.removeprefix("Insufficient ") for reason in lacking(asked, offer)]
    if short:
        return [f"node(s) didn't have enough resources: {WORDS.get(each, each)}" for each in short]
    if state := list(_states(offer.node)):
        return state
    return [AFFINITY if reason == OTHER_NODE else reason for reason in why_not(pod, offer) if reason != UNSCHEDULABLE]


def _states(node: Json | Mapping[str, Any]) -> Iterator[str]:
    """Reasons why a node takes no Pods at all, not even Pods that tolerate all taints (scheduler_utils.go,
    CheckNodeConditionPredicate).
    """
    if at(node, "spec.unschedulable"):
        yield "node is unschedulable"
    conditions: Iterable[Json] = at(node, "status.conditions", [])
    for each in conditions:
        if each.get("type") == "Ready" and each.get("status") != "True":
            yield "node has NotReady condition"
        elif each.get("type") in PRESSURES and each.get("status") != "False":
            yield f"node has {each['type']} condition"


def is_counted(node: Mapping[str, Any]) -> bool:
    """True for a node whose resources KAI divides among the queues: a node that can take Pods."""
    return not any(_states(node))
