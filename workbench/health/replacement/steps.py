"""Steps of a repair. A step can be interrupted and repeated, because it first checks what has already been done.

A step changes a node, its Pods or its machine only while the repair holds the node. It reads the node again immediately
before each change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

from physical_ai.kubernetes.objects import Json, at, is_ready, name, namespace
from workbench.health.budget import refusal
from workbench.health.replacement.cluster import Blocked, Changed, held_by, is_cordoned
from workbench.health.replacement.drain import load_of
from workbench.health.replacement.machine_steps import await_node, remove, restore
from workbench.health.replacement.proof import accept, uncordon
from workbench.health.replacement.record import Record, RepairStep
from workbench.health.replacement.reservation import Taken, reserve
from workbench.health.replacement.world import Standing, Stopped, World, check_held, same

__all__ = ["Result", "Standing", "Stopped", "World", "perform"]

Result = Record | str
"""Result of one attempt at a step: the record with its next step, or a text that says what the step waits for."""


def perform(record: Record, world: World) -> Result:
    """One attempt at the record's step. Returns the next record, or a text about what the step waits for.

    Raises:
        Stopped: a person has to act before the repair can continue.
        Unreachable, Unusable, NoAnswer, Refused: the cluster or Azure does not answer, or refuses a request.
    """
    if record.has_ended:
        return record
    kept = world.cluster.record(record.name)
    if kept is None:
        raise Stopped(f"the record {record.name} of the repair of {record.node} was deleted; nothing more is done")
    if kept != record:
        how = f"has ended: {kept.outcome}" if kept.has_ended else f"is at the step {kept.step}"
        raise Stopped(f"another command goes on with the repair of {record.node}, which {how}")
    try:
        return _STEPS[record.step](record, world)
    except Changed:
        return f"{record.new_node or record.node}, which was changed at this moment"


def budget_refusal(record: Record, world: World) -> str:
    """Reason why the pool's limit does not allow a repair of the node now; empty if it does."""
    nodes = world.cluster.nodes(record.pool)
    out = [name(each) for each in nodes if is_cordoned(each) or not is_ready(each)]
    repairs = [
        each.node
        for each in world.cluster.records()
        if each.pool == record.pool and not each.has_ended and each.name != record.name
    ]
    return refusal(record.pool, record.node, [name(each) for each in nodes], out, repairs)


def _evidence(record: Record, world: World) -> Result:
    world.cluster.save_evidence(record, world.gather(record.node))
    return record.at(RepairStep.CORDON)


def _cordon(record: Record, world: World) -> Result:
    node = same(record, world)
    if node is None:
        return record.at(RepairStep.DONE, outcome=f"{record.node} left the cluster before it was cordoned")
    other = held_by(node)
    if other == record.name:
        check_held(record, node)
        return record.at(RepairStep.DRAIN)
    if other:
        raise Stopped(f"{record.node} is held by another repair, {other}")
    if is_cordoned(node) != record.cordoned_before:  # recorded first: afterwards the cordon is the repair's own
        return record.at(RepairStep.CORDON, cordoned_before=is_cordoned(node))
    try:
        reserve(world.cluster, record, world.now())
    except Taken as taken:
        raise Stopped(str(taken)) from None
    if why := budget_refusal(record, world):
        raise Stopped(f"{record.node} was not cordoned: {why}")
    world.cluster.cordon(node, record.name)
    return record.at(RepairStep.DRAIN)


def _drain(record: Record, world: World) -> Result:
    node = same(record, world)
    if node is None:  # the autoscaler, or an eviction of the Spot VM, was faster
        return record.at(RepairStep.REPORT)
    check_held(record, node)
    pods = world.cluster.pods(record.node)
    uids = {(namespace(each), name(each)): str(at(each, "metadata.uid", "")) for each in pods}
    load = load_of(pods)
    for pod in load.released:
        with contextlib.suppress(Blocked):  # the node has a job again, which the next attempt finds
            _evict(record, world, pod, uids[pod])
    if load.is_gone:
        return record.at(RepairStep.REPORT)
    blocked: list[str] = []
    for pod in load.evicted:
        try:
            _evict(record, world, pod, uids[pod])
        except Blocked as obstacle:
            blocked.append(f"{pod[0]}/{pod[1]}: {obstacle}")
    left = [f"{space}/{pod} ({reason})" for space, pod, reason in load.awaited] + blocked
    if left and world.now() >= record.deadline:
        raise Stopped(
            f"the drain of {record.node} timed out; remaining: {'; '.join(left)}. No Pod was deleted by force."
            " The node stays cordoned; run the command again, with a longer --deadline, or with --cancel"
        )
    until = f"until {record.deadline:%Y-%m-%d %H:%M} UTC"
    if left:
        return f"work on {record.node} to end, {until}: {'; '.join(left)}"
    return f"evicted Pods to leave {record.node}"


def _evict(record: Record, world: World, pod: tuple[str, str], pod_uid: str) -> None:
    """Evicts one Pod of a node, if the repair holds the node at this moment."""
    node: Json | None = same(record, world)
    if node is not None:
        check_held(record, node)
        world.cluster.evict(*pod, pod_uid)


def _report(record: Record, world: World) -> Result:
    if world.report is None:
        return record.at(RepairStep.REMOVE)
    return record.at(RepairStep.REMOVE, impact=world.report(record, world.cluster.evidence(record)))


def _done(record: Record, world: World) -> Result:
    del world
    return record


_STEPS: Mapping[RepairStep, Callable[[Record, World], Result]] = {
    RepairStep.EVIDENCE: _evidence,
    RepairStep.CORDON: _cordon,
    RepairStep.DRAIN: _drain,
    RepairStep.REPORT: _report,
    RepairStep.REMOVE: remove,
    RepairStep.RESTORE: restore,
    RepairStep.AWAIT: await_node,
    RepairStep.ACCEPT: accept,
    RepairStep.UNCORDON: uncordon,
    RepairStep.DONE: _done,
}
