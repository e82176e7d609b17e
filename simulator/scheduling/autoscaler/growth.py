"""Growth of pools: the pool that gets new nodes for waiting Pods, and the reasons why no pool grows for a Pod. Pure
functions.

As in cluster-autoscaler's core, a Pod that fits on an existing or upcoming node makes no pool grow. For the other Pods,
the autoscaler computes how many new nodes each pool would need, and how many of the Pods those nodes would take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.fit import Offer, counted, why_not
from simulator.azure.autoscaling import ScaledPool
from simulator.cluster.objects import Json, at, name

FULL = "max node group size reached"
BACKOFF = "in backoff after failed scale-up"
EXPENDABLE_BELOW = -10
"""Pods with a lower priority than this make no pool grow (--expendable-pods-priority-cutoff)."""


@dataclass(frozen=True)
class Group:
    """An autoscaled pool in its present state."""

    pool: ScaledPool
    template: Offer
    upcoming: int = 0
    """Number of the pool's machines that are not ready nodes yet, such as machines that have not joined the cluster."""
    in_backoff: bool = False

    @property
    def obstacle(self) -> str:
        """Reason why the pool is not even considered for growth; empty if it is considered."""
        if self.in_backoff:
            return BACKOFF
        return FULL if self.pool.count >= self.pool.most else ""


@dataclass(frozen=True)
class Growth:
    """Growth of one pool: the number of added nodes, and the Pods that the added nodes take."""

    group: Group
    added: int
    pods: tuple[Json, ...]
    """Pods for which the pool grows."""

    def __str__(self) -> str:
        now, most = self.group.pool.count, self.group.pool.most
        return f"{{{self.group.pool.scale_set} {now}->{now + self.added} (max: {most})}}"


Choice = Callable[[Sequence[Growth]], Growth | None]
"""Function that chooses one of the pools that could grow; None if none may grow."""


def most_pods(options: Sequence[Growth]) -> Growth | None:
    """Growth that helps the most Pods, with the fewest nodes; None without options."""
    return max(options, key=lambda each: (len(each.pods), -each.added), default=None)


@dataclass(frozen=True)
class ScaleUp:
    growth: Growth | None
    refused: tuple[tuple[Json, str], ...]
    """Pods for which no pool grows, each with the reason of every pool. Empty if any pool grows."""
    needed: frozenset[str]
    """Names of nodes on which a waiting Pod would fit. These nodes do not count as idle, even if the scheduler cannot
    place the Pod yet.
    """


def is_candidate(pod: Mapping[str, Any]) -> bool:
    """True for a Pod that may make a pool grow: its scheduler has reported that it fits on no node, its priority is
    high enough, and it neither belongs to a DaemonSet nor is being deleted.
    """
    if pod["spec"].get("nodeName") or at(pod, "metadata.deletionTimestamp") or is_of_daemonset(pod):
        return False
    if int(at(pod, "spec.priority", 0)) < EXPENDABLE_BELOW:
        return False
    return any(
        each["type"] == "PodScheduled" and each["status"] == "False" and each.get("reason") == "Unschedulable"
        for each in at(pod, "status.conditions", [])
    )


def is_of_daemonset(pod: Mapping[str, Any]) -> bool:
    owners: list[Json] = pod["metadata"].get("ownerReferences") or []
    return any(owner.get("kind") == "DaemonSet" and owner.get("controller") for owner in owners)


def scale_up(
    pods: Iterable[Json], offers: Iterable[Offer], groups: Sequence[Group], choose: Choice = most_pods
) -> ScaleUp:
    """Result of one search for nodes: the growth of the best pool or, if no pool can grow, the reasons; and the names
    of the nodes on which a waiting Pod would fit.

    Args:
        pods: Waiting Pods for which `is_candidate` is true.
        offers: Ready nodes of all pools.
        groups: All autoscaled pools.
        choose: Choice among the pools that can grow.
    """
    coming = [group.template for group in groups for _ in range(group.upcoming)]
    left, needed = _without_place(sorted(pods, key=_order), [*offers, *coming])
    options = [growth for group in groups if (growth := _growth(group, left)) is not None]
    best = choose(options)
    refused = () if options else tuple((pod, _reasons(pod, groups)) for pod in left)
    return ScaleUp(best, refused, frozenset(needed))


def _order(pod: Mapping[str, Any]) -> tuple[int, str, str]:
    return -int(at(pod, "spec.priority", 0)), str(at(pod, "metadata.creationTimestamp", "")), name(pod)


def _without_place(pods: Iterable[Json], offers: Sequence[Offer]) -> tuple[list[Json], set[str]]:
    """Result of placing the Pods on nodes one after the other: the Pods that fit on no node, and the names of the nodes
    that got a Pod.
    """
    room, left, needed = list(offers), list[Json](), set[str]()
    for pod in pods:
        place = next((index for index, offer in enumerate(room) if not why_not(pod, offer)), None)
        if place is None:
            left.append(pod)
        else:
            needed.add(room[place].name)
            room[place] = room[place].with_pod(pod)
    return left, needed


def _growth(group: Group, pods: Iterable[Json]) -> Growth | None:
    """Growth of a pool for these Pods; None if additional nodes of the pool would take none of them."""
    if group.obstacle:
        return None
    nodes, helped = list[Offer](), list[Json]()
    for pod in pods:
        place = next((index for index, offer in enumerate(nodes) if not why_not(pod, offer)), None)
        if place is None and len(nodes) < group.pool.most - group.pool.count and not why_not(pod, group.template):
            nodes.append(group.template)
            place = len(nodes) - 1
        if place is not None:
            nodes[place] = nodes[place].with_pod(pod)
            helped.append(pod)
    return Growth(group, len(nodes), tuple(helped)) if nodes else None


def _reasons(pod: Mapping[str, Any], groups: Iterable[Group]) -> str:
    each = [(group.obstacle,) if group.obstacle else why_not(pod, group.template) for group in groups]
    return f"pod didn't trigger scale-up: {counted(each)}"
