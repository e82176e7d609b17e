"""Report about use, waits and losses by team and queue: the queries, and the figures that follow. Pure functions.

A team is a namespace. A Pod's wait is the time for which it asked for GPUs and had no node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from physical_ai.telemetry.rendering import INTERVAL_SECONDS
from physical_ai.telemetry.usage import SPAN, Sample
from physical_ai.telemetry.usage import queries as usage_queries

_QUEUE = "label_kai_scheduler_queue"
_UNITS = {"m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
Results = Mapping[str, Sequence[Sample]]
_Key = tuple[str, str]
"""Namespace and name of a Pod."""
ENDINGS = {
    "evicted": "evicted by their node",
    "node": "their node left, evicted, replaced or scaled down",
    "failed": "failed",
    "deleted": "deleted while running, by a drain, the scheduler or their owner",
}
"""Ends of Pods without a result, in words."""


@dataclass(frozen=True)
class Group:
    """Figures of one team in one queue.

    Attributes:
        team: Namespace of the Pods.
        queue: Scheduling queue of the Pods; empty for Pods without one.
        waited: GPU-hours for which Pods asked for GPUs and had no node.
        usd: List price of the GPU-hours held in pools with a price.
    """

    team: str
    queue: str
    asked: float = 0.0
    held: float = 0.0
    busy: float = 0.0
    idle: float = 0.0
    waited: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True)
class Queue:
    """Waits and fairness of one queue.

    Attributes:
        name: Name of the queue; empty for Pods without one.
        pods: Number of Pods that asked for GPUs.
        median, p90: Hours for which half, and nine tenths, of the Pods waited at most; None if it is not known.
        held: GPU-hours held.
        waited: GPU-hours waited for.
        share: Share of all GPU-hours held.
        quota: GPU-hours that the queue's guarantee stands for; None without a guarantee.
        quota_share: Share of all guarantees; None without a guarantee.
    """

    name: str
    pods: int
    median: float | None
    p90: float | None
    held: float
    waited: float
    share: float
    quota: float | None = None
    quota_share: float | None = None

    @property
    def short(self) -> bool:
        """True if the queue held less than its guarantee while its Pods waited."""
        return self.quota is not None and self.held < self.quota * 0.95 and self.waited > self.quota * 0.01


@dataclass(frozen=True)
class Loss:
    """GPU-hours that were lost in one way, in one pool, and their list price; None without a price."""

    what: str
    pool: str
    hours: float
    usd: float | None
    pods: int = 0


@dataclass(frozen=True)
class UsageReport:
    """Use, waits and losses of a time range such as `7d`."""

    span: str
    groups: tuple[Group, ...]
    queues: tuple[Queue, ...]
    losses: tuple[Loss, ...]
    capacity: float
    """GPU-hours that nodes had."""

    @property
    def held(self) -> float:
        return sum(each.held for each in self.groups)


@dataclass
class _Sums:
    hours: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("asked", "held", "busy", "idle"), 0.0))
    waited: float = 0.0
    usd: float = 0.0


def hours_of(span: str) -> float:
    """Hours of a time range such as `7d`. Raises ValueError for another form of range."""
    if not SPAN.match(span):
        raise ValueError(f"'{span}' is not a time like 12h, 7d or 4w")
    return int(span[:-1]) * _UNITS[span[-1]]


def report_queries(span: str) -> dict[str, str]:
    """Queries by name: those of `usage`, and those that only a report needs. Raises ValueError for another form of
    range.
    """
    rate = f"* {INTERVAL_SECONDS} / 3600"
    ended = 'kube_pod_status_phase{phase="%s"}'
    reasons = 'kube_pod_status_reason{reason=~"Evicted|NodeLost|Shutdown|UnexpectedAdmissionError"}'
    return {
        **usage_queries(span),
        "gpus": f"max by (namespace, pod) (max_over_time(physical_ai:gpus_asked[{span}]))",
        "queues": f'max by (namespace, pod, {_QUEUE}) (max_over_time(kube_pod_labels{{{_QUEUE}!=""}}[{span}]))',
        "placed": f"max by (namespace, pod, node, pool) (max_over_time(physical_ai:gpus_held[{span}]))",
        "running": "max by (namespace, pod) (physical_ai:gpus_held)",
        "nodes": "max by (node) (kube_node_info)",
        "succeeded": f"max by (namespace, pod) (max_over_time({ended % 'Succeeded'}[{span}])) > 0",
        "failed": f"max by (namespace, pod) (max_over_time({ended % 'Failed'}[{span}])) > 0",
        "evicted": f"max by (namespace, pod) (max_over_time({reasons}[{span}])) > 0",
        "capacity": f"sum by (pool) (sum_over_time(physical_ai:gpus_capacity[{span}])) {rate}",
        "unschedulable": f"sum by (pool) (sum_over_time(physical_ai:gpus_unschedulable[{span}])) {rate}",
        "withheld": f"sum by (node) (sum_over_time(physical_ai:node_withheld[{span}])) {rate}",
        "pools": f"max by (node, pool) (max_over_time(physical_ai:node_pool[{span}]))",
    }


def usage_report(
    results: Results, prices: Mapping[str, float], guarantees: Mapping[str, int], span: str
) -> UsageReport:
    """The report of a time range.

    Args:
        results: Results of `report_queries` by name.
        prices: USD per GPU-hour by pool.
        guarantees: GPUs that are guaranteed to queues, by the queue's name.
    """
    queue_of = {_pod(each): each.labels.get(_QUEUE, "") for each in results.get("queues", ())}
    groups, waits = _groups(results, prices, queue_of)
    return UsageReport(
        span=span,
        groups=groups,
        queues=_queues(groups, waits, guarantees, hours_of(span)),
        losses=tuple(each for each in _losses(results, prices) if each.hours >= 0.05),
        capacity=sum(each.value for each in results.get("capacity", ())),
    )


def percentile(values: Iterable[float], share: float) -> float | None:
    """Smallest of the values that at least this share of them does not exceed; None for no values."""
    found = sorted(values)
    return found[min(max(-int(-share * len(found) // 1) - 1, 0), len(found) - 1)] if found else None


def _groups(
    results: Results, prices: Mapping[str, float], queue_of: Mapping[_Key, str]
) -> tuple[tuple[Group, ...], dict[str, list[float]]]:
    """Figures by team and queue, and the waits in hours of each queue's Pods."""
    sums: dict[tuple[str, str], _Sums] = {}
    by_pod: dict[str, dict[_Key, float]] = {"asked": {}, "held": {}}
    for measure in ("asked", "held", "busy", "idle"):
        for each in results.get(measure, ()):
            pod = _pod(each)
            own = sums.setdefault((pod[0], queue_of.get(pod, "")), _Sums())
            own.hours[measure] += each.value
            if measure == "held":
                own.usd += each.value * prices.get(each.labels.get("pool", ""), 0.0)
            if measure in by_pod:
                by_pod[measure][pod] = by_pod[measure].get(pod, 0.0) + each.value
    gpus = {_pod(each): each.value for each in results.get("gpus", ())}
    waits: dict[str, list[float]] = {}
    for pod, asked in sorted(by_pod["asked"].items()):
        waited = max(asked - by_pod["held"].get(pod, 0.0), 0.0)
        queue = queue_of.get(pod, "")
        sums[pod[0], queue].waited += waited
        if gpus.get(pod, 0.0) > 0:
            waits.setdefault(queue, []).append(waited / gpus[pod])
    groups = [Group(*key, **own.hours, waited=own.waited, usd=own.usd) for key, own in sums.items()]
    return tuple(sorted(groups, key=lambda each: (-each.held, each.team, each.queue))), waits


def _queues(
    groups: Sequence[Group], waits: Mapping[str, Sequence[float]], guarantees: Mapping[str, int], hours: float
) -> tuple[Queue, ...]:
    held = sum(each.held for each in groups)
    given = {name: count for name, count in guarantees.items() if count > 0}
    found: list[Queue] = []
    for name in {each.queue for each in groups} | set(given):
        own = [each for each in groups if each.queue == name]
        mine = sum(each.held for each in own)
        known = waits.get(name, ())
        found.append(
            Queue(
                name=name,
                pods=len(known),
                median=percentile(known, 0.5),
                p90=percentile(known, 0.9),
                held=mine,
                waited=sum(each.waited for each in own),
                share=mine / held if held else 0.0,
                quota=given[name] * hours if name in given else None,
                quota_share=given[name] / sum(given.values()) if name in given else None,
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.held, each.name)))


def _losses(results: Results, prices: Mapping[str, float]) -> list[Loss]:
    """Losses, the largest of each kind first: Pods that ended without a result, then nodes and GPUs."""
    found: list[Loss] = []
    for ending, words in ENDINGS.items():
        found += _lost(f"work of Pods: {words}", _ended(results)[ending], prices)
    pool_of = {each.labels.get("node", ""): each.labels.get("pool", "") for each in results.get("pools", ())}

    def by_pool(name: str, pool: Callable[[Sample], str]) -> list[tuple[str, float]]:
        return [(pool(each), each.value) for each in results.get(name, ())]

    found += _lost("nodes that took no work: cordoned, in repair, not ready",
                   by_pool("unschedulable", lambda each: each.labels.get("pool", "")), prices)  # fmt: skip
    found += _lost("GPUs that their node did not offer: faults",
                   by_pool("withheld", lambda each: pool_of.get(each.labels.get("node", ""), "")), prices)  # fmt: skip
    return found


def _ended(results: Results) -> dict[str, list[tuple[str, float]]]:
    """Pools and GPU-hours of Pods that ended without a result, by the kind of the end."""
    named = {name: {_pod(each) for each in results.get(name, ())} for name in
             ("running", "succeeded", "failed", "evicted")}  # fmt: skip
    nodes = {each.labels.get("node", "") for each in results.get("nodes", ())}
    on = {_pod(each): each.labels.get("node", "") for each in results.get("placed", ())}
    found: dict[str, list[tuple[str, float]]] = {ending: [] for ending in ENDINGS}
    for each in results.get("held", ()):
        pod = _pod(each)
        if pod in named["evicted"]:
            ending = "evicted"
        elif pod in named["failed"]:
            ending = "failed"
        elif pod in named["running"] or pod in named["succeeded"]:
            continue
        else:
            ending = "deleted" if on.get(pod, "") in nodes else "node"
        found[ending].append((each.labels.get("pool", ""), each.value))
    return found


def _lost(what: str, hours: Iterable[tuple[str, float]], prices: Mapping[str, float]) -> list[Loss]:
    sums: dict[str, tuple[float, int]] = {}
    for pool, value in hours:
        before, count = sums.get(pool, (0.0, 0))
        sums[pool] = before + value, count + 1
    found = [
        Loss(what, pool, value, value * prices[pool] if pool in prices else None, count if "Pods" in what else 0)
        for pool, (value, count) in sums.items()
    ]
    return sorted(found, key=lambda each: (-each.hours, each.pool))


def _pod(sample: Sample) -> _Key:
    return sample.labels.get("namespace", ""), sample.labels.get("pod", "")
