"""Queues of KAI: their limits, their present shares, and the first limit or quota that another job would exceed. Pure
functions.

A limit applies to a queue and to all its parents; a quota applies only to jobs that cannot be preempted. Read in
kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/plugins/proportion and pkg/scheduler/api.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.vendors import VENDORS
from physical_ai.kubernetes.fit import CPU, Amounts
from simulator.cluster.objects import Json, at, name

UNLIMITED = -1
DEFAULT_PRIORITY = 100
GPU, MEMORY = "gpu", "memory"
GPU_RESOURCES = tuple(vendor.resource for vendor in VENDORS)
"""Resource names of all vendors' GPUs, which KAI counts as one resource
(pkg/scheduler/api/resource_info/resource_info.go).
"""
MIG_RESOURCE = re.compile(r"nvidia\.com/mig-(\d+)g\.\d+gb")
"""Pattern of the resource names of MIG profiles. KAI counts each compute slice of a MIG instance as one GPU
(resource_info/resource_vector.go, TotalGPUs).
"""
RESOURCES = (CPU, MEMORY, GPU)
"""Resources in the order in which KAI checks them (resource_share/resource_quantities.go, AllResources)."""
UNITS = {CPU: ("CPU cores", "cores", 1000), MEMORY: ("memory", "GB", 10**9), GPU: ("GPUs", "GPUs", 1)}
"""Terms of KAI's messages about each resource: the resource's name, its unit, and the number of base
units in one unit.
"""
QUEUE_UNITS = {CPU: 1, MEMORY: 10**6, GPU: 1}
"""Number of base units (thousandths of a CPU, bytes, GPUs) in one unit of a Queue object."""

Share = Mapping[str, float]
"""Amount of each resource, in base units; -1 means an unlimited amount."""


@dataclass(frozen=True)
class Queue:
    """A KAI queue: its place in the tree, its priority, and its quota, limit and weight. Amounts are in base units; -1
    means unlimited.
    """

    name: str
    display: str
    parent: str
    priority: int
    created: str
    quota: Share
    limit: Share
    weight: Share

    @classmethod
    def of(cls, item: Json) -> Queue:
        """The Queue for KAI's Queue object `item`. A resource that the object does not mention has quota 0 and limit 0,
        as in KAI.
        """

        def each(field: str) -> dict[str, float]:
            given = {key: float(at(item, f"spec.resources.{key}.{field}", 0)) for key in RESOURCES}
            return {key: max(UNLIMITED, value * QUEUE_UNITS[key]) for key, value in given.items()}

        return cls(
            name=name(item),
            display=str(at(item, "spec.displayName", "")) or name(item),
            parent=str(at(item, "spec.parentQueue", "")),
            priority=int(at(item, "spec.priority", DEFAULT_PRIORITY)),
            created=str(at(item, "metadata.creationTimestamp", "")),
            quota=each("quota"),
            limit=each("limit"),
            weight={key: float(at(item, f"spec.resources.{key}.overQuotaWeight", 0)) for key in RESOURCES},
        )


def share_of(asked: Amounts) -> dict[str, float]:
    """Requests of Pods reduced to CPU, memory and GPUs. The GPUs of both vendors are added up, and each compute slice
    of a MIG instance counts as one GPU.
    """
    slices = ((MIG_RESOURCE.fullmatch(key), amount) for key, amount in asked.items())
    gpus = sum(asked.get(each, 0) for each in GPU_RESOURCES)
    gpus += sum(int(found[1]) * amount for found, amount in slices if found)
    return {CPU: asked.get(CPU, 0), MEMORY: asked.get(MEMORY, 0), GPU: gpus}


def human(value: float, unit: float = 1) -> str:
    """The number `value / unit` in KAI's format: cut off, not rounded, after three decimals (HumanizeResource)."""
    if value == UNLIMITED:
        return "Unlimited"
    whole, _, rest = f"{value / unit:.6f}".partition(".")
    rest = rest[:3].rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def exceeds(amount: float, bound: float) -> bool:
    return bound != UNLIMITED and amount > bound


class Shares:
    """The queues of a cluster, with the resources that are allocated to each and requested in each.

    A queue whose parent does not exist is ignored, and so are its child queues (cache/cluster_info/queue.go).
    """

    def __init__(self, queues: Iterable[Queue]) -> None:
        given = {queue.name: queue for queue in queues}
        self.queues = {key: queue for key, queue in given.items() if _is_rooted(queue, given)}
        self._allocated: dict[str, dict[str, float]] = {}
        self._fixed: dict[str, dict[str, float]] = {}
        self._requested: dict[str, dict[str, float]] = {}

    def __contains__(self, queue: str) -> bool:
        return queue in self.queues

    def children(self, queue: str) -> list[Queue]:
        """The child queues of a queue; for an empty name, the queues at the top."""
        return [each for each in self.queues.values() if each.parent == queue]

    def path(self, queue: str) -> Iterator[Queue]:
        """The queue and its parents, from the bottom to the top."""
        while queue in self.queues:
            yield self.queues[queue]
            queue = self.queues[queue].parent

    def allocated(self, queue: str) -> dict[str, float]:
        return self._held(self._allocated, queue)

    def requested(self, queue: str) -> dict[str, float]:
        return self._held(self._requested, queue)

    def _held(self, amounts: dict[str, dict[str, float]], queue: str) -> dict[str, float]:
        return amounts.setdefault(queue, dict.fromkeys(RESOURCES, 0.0))

    def take(self, queue: str, share: Share, *, preemptible: bool) -> None:
        """Adds the resources of Pods that have got a node to the allocated amounts of the queue and its parents."""
        for held in (self._allocated, *(() if preemptible else (self._fixed,))):
            self._count(held, queue, share)

    def ask(self, queue: str, share: Share) -> None:
        """Adds the resources of Pods, whether they have a node or wait for one, to the requested amounts of the queue
        and its parents.
        """
        self._count(self._requested, queue, share)

    def _count(self, amounts: dict[str, dict[str, float]], queue: str, share: Share) -> None:
        for each in self.path(queue):
            mine = self._held(amounts, each.name)
            for key, amount in share.items():
                mine[key] += amount

    def refusal(self, queue: str, share: Share, *, preemptible: bool) -> tuple[str, str] | None:
        """KAI's reason and message for refusing additional resources to a queue; None if the queue gets them.

        Limits are checked before quotas (capacity_policy/capacity_policy.go, IsJobOverQueueCapacity).
        """
        asked = [(key, share[key]) for key in RESOURCES if share[key]]
        for each in self.path(queue):
            for key, amount in asked:
                held = self.allocated(each.name)[key]
                if exceeds(held + amount, each.limit[key]):
                    return "OverLimit", _over_limit(each, key, held, amount)
        for each in () if preemptible else self.path(queue):
            for key, amount in asked:
                held = self._held(self._fixed, each.name)[key]
                if exceeds(held + amount, each.quota[key]):
                    return "NonPreemptibleOverQuota", _over_quota(each, key, held, amount)
        return None


def _is_rooted(queue: Queue, known: Mapping[str, Queue]) -> bool:
    seen = {queue.name}
    while queue.parent:
        if queue.parent not in known or queue.parent in seen:
            return False
        seen.add(queue.parent)
        queue = known[queue.parent]
    return True


def _over_limit(queue: Queue, key: str, held: float, asked: float) -> str:
    resource, unit, size = UNITS[key]
    most, has, more = (human(amount, size) for amount in (queue.limit[key], held, asked))
    return (
        f"{queue.display} quota has reached the allowable limit of {resource}. Limit is {most} {unit},"
        f" currently {has} {unit} allocated and workload requested {more} {unit}"
    )


def _over_quota(queue: Queue, key: str, held: float, asked: float) -> str:
    resource, unit, size = UNITS[key]
    quota, has, more = (human(amount, size) for amount in (queue.quota[key], held, asked))
    what = f"{unit} {resource}" if key == MEMORY else resource
    return (
        f"Non-preemptible workload is over quota. Workload requested {more} {what}, but {queue.display} quota is"
        f" {quota} {unit}, while {has} {unit} are already allocated for non-preemptible pods. Use a preemptible"
        " workload to go over quota."
    )


def queues_of(items: Iterable[Any]) -> Shares:
    return Shares(map(Queue.of, items))
