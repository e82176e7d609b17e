"""Runs a repair from its record to its end, and begins, cancels and previews one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from physical_ai.catalog.nvsentinel import QUARANTINE_ANNOTATION
from physical_ai.health.arm import NoAnswer
from physical_ai.health.budget import refusal
from physical_ai.health.replacement.cluster import RepairCluster, boot_id, held_by, is_cordoned, uid
from physical_ai.health.replacement.machines import machine_id
from physical_ai.health.replacement.record import Action, Record, Step
from physical_ai.health.replacement.steps import Stopped, World, perform
from physical_ai.kubernetes.objects import Json, annotations_of, at, is_ready, name
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.reader import Unreachable

POLL_SECONDS = 5.0
PATIENCE = timedelta(minutes=45)
"""How long one step after the drain may wait before the command ends: a new node with its driver takes half of that."""
FAILURES = 12
"""Answers in a row that may be missing."""


def unfinished(cluster: RepairCluster, node: str) -> Record | None:
    """The repair of a node that has not ended, also where the node has gone or a new one has taken its place."""
    open_ones = [each for each in cluster.records() if not each.has_ended]
    return next((each for each in open_ones if node in (each.node, each.new_node)), None)


def action_of(advice: str, *, reboot: bool | None) -> Action:
    """What is done: what a person wants, or a restart where that is the advice of the node's evidence."""
    wanted = advice == "reboot" if reboot is None else reboot
    return "reboot" if wanted else "replace"


def new_record(node: Json, action: Action, reason: str, world: World, wait: timedelta) -> Record:
    """The record of a repair that may begin now. It is not written yet.

    Raises:
        Stopped: the node is no machine of a GPU pool's scale set, or the pool's budget does not allow it.
    """
    pool = pool_of(node)
    if pool not in world.expected:
        raise Stopped(f"{name(node)} is of pool {pool or 'no'}, which is no GPU pool of the stack")
    if not machine_id(str(at(node, "spec.providerID", ""))):
        raise Stopped(f"{name(node)} is not a machine of a scale set, so that AKS cannot delete it by name")
    others = world.cluster.nodes(pool)
    out = [name(each) for each in others if is_cordoned(each) or not is_ready(each)]
    records = world.cluster.records()
    repairs = [each.node for each in records if each.pool == pool and not each.has_ended]
    why = refusal(pool, name(node), [name(each) for each in others], out, repairs)
    if why:
        raise Stopped(why)
    now = world.now()
    return Record(
        node=name(node),
        node_uid=uid(node),
        boot_id=boot_id(node),
        pool=pool,
        provider_id=str(at(node, "spec.providerID")),
        action=action,
        started=now,
        deadline=now + wait,
        reason=reason,
        earlier=max((each.earlier + 1 for each in records if each.node_uid == uid(node)), default=0),
    )


def repair(record: Record, world: World, say: Callable[[str], None], sleep: Callable[[float], None]) -> Record:
    """Goes on with a repair to its end. After each step the record is in the cluster.

    Raises:
        Stopped: it cannot continue without an action.
        Unreachable, Unusable, NoAnswer, Refused: the cluster or Azure did not answer for a while, or refuses.
    """
    failures, said, since = 0, "", world.now()
    while not record.has_ended:
        try:
            result = perform(record, world)
            if isinstance(result, Record):
                world.cluster.save(result)
        except (Unreachable, NoAnswer) as problem:
            failures += 1
            if failures > FAILURES:
                raise
            say(f"no answer, asking again: {problem}")
            sleep(POLL_SECONDS)
            continue
        failures = 0
        if isinstance(result, Record):
            if result.step is not record.step:
                say(f"{record.step.value}: done")
            record, said, since = result, "", world.now()
            continue
        if result != said:
            say(f"{record.step.value}: waiting for {result}")
            said = result
        if record.step is not Step.DRAIN and world.now() - since > PATIENCE:
            raise Stopped(f"{record.step.value} has waited {PATIENCE.seconds // 60} minutes for {result}")
        sleep(POLL_SECONDS)
    return record


def cancel(record: Record, world: World) -> Record:
    """Ends a repair where it is. Its node goes back to work if its machine was not touched.

    A successor that was not accepted stays cordoned, for its own repair; and so does what NVSentinel has cordoned, or
    anybody else, before the repair did or during it.
    """
    touched = record.step not in (Step.EVIDENCE, Step.CORDON, Step.DRAIN, Step.REPORT)
    node = world.cluster.node(record.node)
    if not touched and node is not None and uid(node) == record.node_uid and held_by(node) == record.name:
        keep = record.cordoned_before or QUARANTINE_ANNOTATION in annotations_of(node)
        world.cluster.uncordon(record.node, keep_cordoned=keep)
    elif touched:
        for each in world.cluster.nodes(record.pool):
            if held_by(each) == record.name:
                world.cluster.uncordon(name(each), keep_cordoned=True)
    ended = record.at(Step.DONE, outcome=f"canceled at the step {record.step.value}")
    world.cluster.save(ended)
    return ended
