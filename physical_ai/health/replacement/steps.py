"""The steps of a repair. Each may end at any point and be done again: it looks first at what is already so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from physical_ai.health.replacement.cluster import Blocked, RepairCluster, boot_id, held_by, is_cordoned, uid
from physical_ai.health.replacement.drain import load_of
from physical_ai.health.replacement.machines import Machines
from physical_ai.health.replacement.record import Record, Step
from physical_ai.kubernetes.objects import Json, at, is_ready, name
from physical_ai.readiness.objects import allocatable


class Stopped(Exception):
    """The repair cannot continue without an action. Its record is kept, and the same command resumes it."""


@dataclass(frozen=True)
class World:
    """What a repair works with."""

    cluster: RepairCluster
    machines: Machines
    expected: Mapping[str, Mapping[str, int]]
    """Resources that a node of each pool should offer."""
    gather: Callable[[str], Mapping[str, Any]]
    """What is known of a node, as JSON."""
    report: Callable[[Record, Mapping[str, Any]], str] | None
    """Sends the report about the repair with this evidence to Azure unless that has been done; its name. None: no
    report is sent."""
    accept: Callable[[str], str]
    """Accepts a node; why it did not pass, empty where it did."""
    now: Callable[[], datetime]


Result = Record | str
"""The record with its next step, or what the step waits for."""


def perform(record: Record, world: World) -> Result:
    """One attempt at the record's step.

    Raises:
        Stopped
        Unreachable, Unusable, NoAnswer, Refused: as the cluster and Azure do.
    """
    return _STEPS[record.step](record, world)


def _evidence(record: Record, world: World) -> Result:
    world.cluster.save_evidence(record, world.gather(record.node))
    return record.at(Step.CORDON)


def _cordon(record: Record, world: World) -> Result:
    node = _same(record, world)
    if node is None:
        raise Stopped(f"{record.node} left the cluster before it was cordoned; nothing is left to repair")
    other = held_by(node)
    if other and other != record.name:
        raise Stopped(f"{record.node} is held by another repair, {other}")
    before = is_cordoned(node) and not other
    world.cluster.cordon(record.node, record.name)
    return record.at(Step.DRAIN, cordoned_before=record.cordoned_before or before)


def _drain(record: Record, world: World) -> Result:
    if _same(record, world) is None:  # the autoscaler, or an eviction of the Spot VM, was faster
        return record.at(Step.REPORT)
    load = load_of(world.cluster.pods(record.node))
    for namespace, pod in load.released:
        with contextlib.suppress(Blocked):  # it has a job again, which the next look sees
            world.cluster.evict(namespace, pod)
    if load.is_gone:
        return record.at(Step.REPORT)
    blocked: list[str] = []
    for namespace, pod in load.evicted:
        try:
            world.cluster.evict(namespace, pod)
        except Blocked as refusal:
            blocked.append(f"{namespace}/{pod}: {refusal}")
    left = [f"{namespace}/{pod} ({reason})" for namespace, pod, reason in load.awaited] + blocked
    if left and world.now() >= record.deadline:
        raise Stopped(
            f"the drain of {record.node} timed out; remaining: {'; '.join(left)}. No Pod was deleted by force."
            " The node stays cordoned; run the command again, with a longer --deadline, or with --cancel"
        )
    return f"work on {record.node} to end: {'; '.join(left)}" if left else f"evicted Pods to leave {record.node}"


def _report(record: Record, world: World) -> Result:
    if world.report is None:
        return record.at(Step.REMOVE)
    return record.at(Step.REMOVE, impact=world.report(record, world.cluster.evidence(record)))


def _remove(record: Record, world: World) -> Result:
    return _restart(record, world) if record.action == "reboot" else _delete(record, world)


def _restart(record: Record, world: World) -> Result:
    node = _same(record, world)
    if node is None:
        raise Stopped(f"{record.node} left the cluster before it was restarted; nothing is left to repair")
    if boot_id(node) == record.boot_id:
        _check_empty(record, world, node)
        if not world.machines.restart(record.provider_id):
            return f"another operation of Azure on {record.node}"
    return record.at(Step.RESTORE)


def _delete(record: Record, world: World) -> Result:
    pool = world.machines.pool(record.pool)
    if not record.uids_before:
        uids = tuple(sorted({uid(each) for each in world.cluster.nodes(record.pool)} | {record.node_uid}))
        return record.at(Step.REMOVE, uids_before=uids, nodes_before=pool.count)
    if not pool.is_settled:
        return f"Azure's operation on pool {record.pool} ({pool.state})"
    node = _same(record, world)
    if node is None:
        return record.at(Step.RESTORE)
    _check_empty(record, world, node)
    if not world.machines.delete(record.pool, record.node):
        return f"another operation of Azure on pool {record.pool}"
    return f"Azure to delete the machine of {record.node}"


def _check_empty(record: Record, world: World, node: Json) -> None:
    """Azure neither cordons nor drains, so both must still be so at this moment."""
    if not is_cordoned(node):
        raise Stopped(f"{record.node} was uncordoned during its repair; nothing was removed")
    load = load_of(world.cluster.pods(record.node))
    if not load.is_gone:
        there = ", ".join(f"{each[0]}/{each[1]}" for each in (*load.evicted, *load.awaited))
        raise Stopped(f"{record.node} has work again after its drain: {there}; nothing was removed")


def _restore(record: Record, world: World) -> Result:
    if record.action == "reboot":
        return record.at(Step.AWAIT)
    pool = world.machines.pool(record.pool)
    if not pool.is_settled:
        return f"Azure's operation on pool {record.pool} ({pool.state})"
    wanted = pool.least if pool.autoscaled else record.nodes_before
    if pool.count < wanted and not world.machines.resize(record.pool, wanted):
        return f"another operation of Azure on pool {record.pool}"
    return record.at(Step.AWAIT)


def _await(record: Record, world: World) -> Result:
    node = _successor(record, world)
    if node is None:
        if record.action == "reboot":
            return f"{record.node} to restart"
        pool = world.machines.pool(record.pool)
        if pool.is_settled and pool.autoscaled and pool.count <= len(world.cluster.nodes(record.pool)):
            ended = f"machine deleted; pool {record.pool} scales automatically and needs no further node now"
            return record.at(Step.DONE, outcome=ended)
        return f"a new node of pool {record.pool}"
    if not is_cordoned(node) or held_by(node) != record.name:
        world.cluster.cordon(name(node), record.name)
    if not is_ready(node):
        return f"{name(node)} to become Ready"
    offered = allocatable(node)
    missing = {key: count for key, count in world.expected.get(record.pool, {}).items() if offered.get(key, 0) < count}
    if missing:
        counts = ", ".join(f"{offered.get(key, 0)} of {count} {key}" for key, count in missing.items())
        return f"the GPUs of {name(node)}: {counts}"
    return record.at(Step.ACCEPT, new_node=name(node), new_uid=uid(node))


def _successor(record: Record, world: World) -> Json | None:
    """The node that takes the place of the repaired one: itself after its restart, or a new one of the pool."""
    if record.action == "reboot":
        node = _same(record, world)
        if node is None:
            raise Stopped(f"{record.node} left the cluster during its restart; nothing is left to accept")
        return node if boot_id(node) != record.boot_id else None
    new = [each for each in world.cluster.nodes(record.pool) if uid(each) not in record.uids_before]
    held = [each for each in new if held_by(each) == record.name]
    return next(iter(held or sorted(new, key=lambda each: str(at(each, "metadata.creationTimestamp", "")))), None)


def _accept(record: Record, world: World) -> Result:
    why = world.accept(record.new_node)
    if why:
        raise Stopped(
            f"{record.new_node} did not pass acceptance and stays cordoned: {why}. Run the command again to repeat the"
            f" acceptance, or with --cancel and then for {record.new_node}"
        )
    return record.at(Step.UNCORDON)


def _uncordon(record: Record, world: World) -> Result:
    node = world.cluster.node(record.new_node)
    if node is None or uid(node) != record.new_uid:
        raise Stopped(f"{record.new_node} left the cluster after its acceptance")
    keep = record.action == "reboot" and record.cordoned_before
    if held_by(node) == record.name:
        world.cluster.uncordon(record.new_node, keep_cordoned=keep)
    done = f"{record.new_node} was accepted" + (" and stays cordoned, as it was before" if keep else " and takes work")
    return record.at(Step.DONE, outcome=done)


def _done(record: Record, world: World) -> Result:
    del world
    return record


def _same(record: Record, world: World) -> Json | None:
    """The node with its Node object of the repair's beginning: another machine may have its name by now."""
    node = world.cluster.node(record.node)
    return node if node is not None and uid(node) == record.node_uid else None


_STEPS: Mapping[Step, Callable[[Record, World], Result]] = {
    Step.EVIDENCE: _evidence,
    Step.CORDON: _cordon,
    Step.DRAIN: _drain,
    Step.REPORT: _report,
    Step.REMOVE: _remove,
    Step.RESTORE: _restore,
    Step.AWAIT: _await,
    Step.ACCEPT: _accept,
    Step.UNCORDON: _uncordon,
    Step.DONE: _done,
}
