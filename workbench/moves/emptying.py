"""Decisions while a pool is emptied: which nodes take no new Pods, which Pods are evicted, and when it is over. Pure
functions.

Running Pods are never ended before the time limit. Services, whose controllers start them again elsewhere, are evicted
if the caller allows it. A Pod that waits and can run on this pool only gets its place: the pool's nodes take Pods again
until it has one. So a Job's second attempt does not wait for ever for a pool that takes nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from physical_ai.kubernetes.objects import annotations_of, at, name, namespace
from physical_ai.readiness.objects import POOL_LABELS, pool_of
from workbench.health.replacement.drain import load_of
from workbench.impact import Work
from workbench.impact.work import work_of
from workbench.moves.progress import Limits

ANNOTATION = "physical-ai/move"
"""Annotation of a node that a move has cordoned. Its value is the name of the pool that the work moves to."""
SERVICES = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Controllers whose Pods never end by themselves."""


@dataclass(frozen=True)
class Node:
    """A node of the pool. `holder`: value of ANNOTATION; empty for a node that no move has cordoned."""

    name: str
    cordoned: bool
    holder: str = ""


@dataclass(frozen=True)
class View:
    """Work on a pool's nodes, and work that waits for them.

    Attributes:
        running: Work on the pool's nodes.
        waiting: Pods without a node that only this pool can take.
        services: Namespaces and names of running Pods that a controller starts again on another pool.
        everywhere: All work in the cluster. Members of a gang may run on several pools.
    """

    nodes: tuple[Node, ...] = ()
    running: tuple[Work, ...] = ()
    waiting: tuple[Work, ...] = ()
    services: frozenset[tuple[str, str]] = frozenset()
    everywhere: tuple[Work, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The next acts, and the state of the wait.

    Attributes:
        cordon, uncordon: Names of nodes.
        evict: Namespaces and names of Pods.
        outcome: `empty`: nothing runs or waits, and no node takes Pods. `waiting`: look again. `refused`: the time is
            over.
        says: What is waited for, or why it ends.
    """

    outcome: Literal["empty", "waiting", "refused"]
    cordon: tuple[str, ...] = ()
    uncordon: tuple[str, ...] = ()
    evict: tuple[tuple[str, str], ...] = ()
    says: str = ""


def view_of(
    pods: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]], pool: str, platform: Collection[str]
) -> View:
    """View of a pool, from the cluster's Pods and nodes. `platform`: namespaces whose Pods are not work."""
    own = [each for each in nodes if pool_of(each) == pool]
    work = tuple(work_of(pods, nodes, platform))
    bound = {(namespace(each), name(each)) for each in pods if asks_only_for(each, pool)}
    names = {name(each) for each in own}
    on_pool = [each for each in pods if at(each, "spec.nodeName") in names]
    movable = {each for each in load_of(on_pool).evicted if each not in bound}
    running = tuple(each for each in work if each.node in names)
    return View(
        tuple(
            Node(name(each), at(each, "spec.unschedulable") is True, annotations_of(each).get(ANNOTATION, ""))
            for each in own
        ),
        running,
        tuple(each for each in work if each.waits and (each.namespace, each.name) in bound),
        frozenset((each.namespace, each.name) for each in running) & movable,
        work,
    )


def asks_only_for(pod: Mapping[str, Any], pool: str) -> bool:
    """True if the Pod's node selector or its required node affinity allows no other pool."""
    selector: Mapping[str, str] = at(pod, "spec.nodeSelector") or {}
    if any(selector.get(key) == pool for key in POOL_LABELS):
        return True
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    terms: Sequence[Mapping[str, Any]] = at(pod, path) or []
    return bool(terms) and all(_is_bound(each, pool) for each in terms)


def _is_bound(term: Mapping[str, Any], pool: str) -> bool:
    expressions: Sequence[Mapping[str, Any]] = term.get("matchExpressions") or []
    return any(
        each.get("key") in POOL_LABELS and each.get("operator") == "In" and each.get("values") == [pool]
        for each in expressions
    )


def decide(view: View, limits: Limits, began: datetime.datetime, now: datetime.datetime, holder: str) -> Decision:
    """The next acts for a pool that is emptied.

    Args:
        began: Time at which the wait began.
        holder: Value of ANNOTATION on nodes of this move. Nodes that somebody else has cordoned stay as they are.
    """
    overdue = (now - began).total_seconds() >= limits.within
    if view.waiting:
        return _for_waiting(view, limits, holder, overdue=overdue)
    cordon = tuple(each.name for each in view.nodes if not each.cordoned)
    evict = tuple(sorted(view.services)) if limits.restart_services else ()
    left = [each for each in view.running if (each.namespace, each.name) not in evict]
    if not view.running:
        return Decision("waiting" if cordon else "empty", cordon)
    if overdue and left:
        lost, ended = _loss(view, left, now)
        if limits.budget is None or lost > limits.budget:
            return Decision("refused", cordon, says=_refusal(left, lost, limits))
        evict = tuple(sorted({*evict, *((each.namespace, each.name) for each in ended)}))
    return Decision("waiting", cordon, (), evict, f"waiting for {owners(view.running)}")


def _for_waiting(view: View, limits: Limits, holder: str, *, overdue: bool) -> Decision:
    closed = tuple(each.name for each in view.nodes if each.cordoned and each.holder == holder)
    who = owners(view.waiting)
    if overdue:
        return Decision(
            "refused",
            says=f"{who} can run on this pool only, and still waits for it: change its node selector, or delete it",
        )
    return Decision("waiting", (), closed, says=f"{who} waits for this pool only; its nodes take Pods until it runs")


def _loss(view: View, left: Sequence[Work], now: datetime.datetime) -> tuple[float, list[Work]]:
    """Most GPU-hours that are lost if the Pods `left` end, and the Pods to evict. Members of their gangs end, too."""
    gangs = {each.gang for each in left if each.gang}
    ended = [*left, *(each for each in view.everywhere if each.gang in gangs and each not in left)]
    return sum(each.lost_hours(now)[1] for each in ended), list(left)


def _refusal(left: Sequence[Work], lost: float, limits: Limits) -> str:
    allowed = "no --budget allows it" if limits.budget is None else f"--budget allows {limits.budget:g}"
    return f"{owners(left)} still runs at the end of --within; to end it would lose {lost:.2g} GPU-hours, and {allowed}"


def owners(work: Sequence[Work]) -> str:
    """Owners of Pods as text: `workflow train-1 (2 Pods), Job team/render`."""
    counts: dict[str, int] = {}
    for each in work:
        counts[each.owner] = counts.get(each.owner, 0) + 1
    return ", ".join(f"{owner} ({count} Pods)" if count > 1 else owner for owner, count in counts.items())
