"""Queues: what they may have, what they have, and in which order they are served. Pure.

As pkg/scheduler/plugins/proportion: a limit binds a queue and all above it; a quota binds only what can't be preempted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.vendors import VENDORS
from physical_ai.kubernetes.fit import CPU, Amounts
from physical_ai.simulator.cluster.objects import Json, at, name

UNLIMITED = -1
DEFAULT_PRIORITY = 100
GPU, MEMORY = "gpu", "memory"
GPU_RESOURCES = tuple(vendor.resource for vendor in VENDORS)
"""KAI counts the GPUs of both vendors as one resource (pkg/scheduler/api/resource_info/resource_info.go)."""
UNITS = {GPU: ("GPUs", "GPUs", 1), CPU: ("CPU cores", "cores", 1000), MEMORY: ("memory", "GB", 1000)}
"""By resource: its name and its unit in messages, and how many of a queue's own units make one of those."""
RESOURCES = {GPU: (GPU_RESOURCES, 1), CPU: ((CPU,), 1), MEMORY: (("memory",), 10**6)}
"""By resource: what pods ask for, and how many of its base units make one of the queue's."""


@dataclass(frozen=True)
class Queue:
    """One queue; amounts in GPUs, thousandths of a CPU and megabytes, -1 without an end."""

    name: str
    display: str
    parent: str
    priority: int
    created: str
    quota: Mapping[str, float]
    limit: Mapping[str, float]
    weight: Mapping[str, float]

    @classmethod
    def of(cls, item: Json) -> Queue:
        """A Queue object. A resource it says nothing of has quota and limit 0, as in KAI."""

        def each(field: str) -> dict[str, float]:
            return {key: float(at(item, f"spec.resources.{key}.{field}", 0)) for key in UNITS}

        return cls(
            name=name(item),
            display=str(at(item, "spec.displayName", "")) or name(item),
            parent=str(at(item, "spec.parentQueue", "")),
            priority=int(at(item, "spec.priority", DEFAULT_PRIORITY)),
            created=str(at(item, "metadata.creationTimestamp", "")),
            quota=each("quota"),
            limit=each("limit"),
            weight=each("overQuotaWeight"),
        )


def share_of(asked: Amounts) -> dict[str, float]:
    """What pods ask for in a queue's units."""
    return {key: sum(asked.get(each, 0) for each in found) / size for key, (found, size) in RESOURCES.items()}


class Shares:
    """The queues of a cluster, and what of each is allocated."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        self._queues = {queue.name: queue for queue in queues}
        self._allocated: dict[str, dict[str, float]] = {}
        self._fixed: dict[str, dict[str, float]] = {}

    def __contains__(self, queue: str) -> bool:
        return queue in self._queues

    def is_rooted(self, queue: str) -> bool:
        """Whether every queue above it exists too."""
        return all(not each.parent or each.parent in self._queues for each in self._path(queue))

    def _path(self, queue: str) -> Iterator[Queue]:
        """The queue and those above it; a circle ends where it closes."""
        seen: set[str] = set()
        while queue in self._queues and queue not in seen:
            seen.add(queue)
            yield self._queues[queue]
            queue = self._queues[queue].parent

    def take(self, queue: str, share: Mapping[str, float], *, preemptible: bool) -> None:
        """Counts what a queue's pods have got, for it and for those above it."""
        for each in self._path(queue):
            for held in (self._allocated, *(() if preemptible else (self._fixed,))):
                mine = held.setdefault(each.name, {})
                for key, amount in share.items():
                    mine[key] = mine.get(key, 0) + amount

    def rank(self, queue: str) -> list[tuple[bool, int, float, str, str]]:
        """Sorts queues, from the root down: below quota first, then by priority, then by share of their weight."""
        return [self._rank(each) for each in reversed(list(self._path(queue)))]

    def _rank(self, queue: Queue) -> tuple[bool, int, float, str, str]:
        held = self._allocated.get(queue.name, {}).get(GPU, 0)
        quota = queue.quota[GPU]
        over = quota != UNLIMITED and held >= quota
        return over, -queue.priority, held / (queue.weight[GPU] or 1), queue.created, queue.name

    def refusal(self, queue: str, share: Mapping[str, float], *, preemptible: bool) -> tuple[str, str] | None:
        """Why a queue does not get that much more, as KAI's reason and message; None where it does."""
        for each in () if preemptible else self._path(queue):
            for key, amount in share.items():
                held = self._fixed.get(each.name, {}).get(key, 0)
                if amount and each.quota[key] != UNLIMITED and held + amount > each.quota[key]:
                    return "NonPreemptibleOverQuota", _over_quota(each, key, held, amount)
        for each in self._path(queue):
            for key, amount in share.items():
                held = self._allocated.get(each.name, {}).get(key, 0)
                if amount and each.limit[key] != UNLIMITED and held + amount > each.limit[key]:
                    return "OverLimit", _over_limit(each, key, held, amount)
        return None


def _over_limit(queue: Queue, key: str, held: float, asked: float) -> str:
    resource, unit, size = UNITS[key]
    most, held, asked = (amount / size for amount in (queue.limit[key], held, asked))
    return (
        f"{queue.display} quota has reached the allowable limit of {resource}. Limit is {most:g} {unit},"
        f" currently {held:g} {unit} allocated and workload requested {asked:g} {unit}"
    )


def _over_quota(queue: Queue, key: str, held: float, asked: float) -> str:
    resource, unit, size = UNITS[key]
    quota, held, asked = (amount / size for amount in (queue.quota[key], held, asked))
    what = f"{unit} {resource}" if key == MEMORY else resource
    return (
        f"Workload requested {asked:g} {what}, but {queue.display} quota is {quota:g} {unit},"
        f" while {held:g} {unit} are already allocated for non-preemptible pods."
    )


def queues_of(items: Iterable[Any]) -> Shares:
    return Shares(map(Queue.of, items))
