"""Commands for a repair: begin the repair, continue it from its record to its end, and cancel it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from parts.nvsentinel.names import QUARANTINE_ANNOTATION
from physical_ai.catalog.acceptance import AcceptanceLevel
from physical_ai.kubernetes.objects import Json, annotations_of, at, name
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.reader import Unreachable
from workbench.health.arm import NoAnswer
from workbench.health.replacement.cluster import Changed, RepairCluster, boot_id, held_by, is_cordoned, uid
from workbench.health.replacement.machine_steps import is_by_hand
from workbench.health.replacement.record import Action, Record, RepairStep
from workbench.health.replacement.reservation import Taken, is_reserved, reserve
from workbench.health.replacement.steps import budget_refusal, perform
from workbench.health.replacement.world import Stopped, World

POLL_SECONDS = 5.0
PATIENCE = timedelta(minutes=45)
"""Longest time that one step after the drain may wait before the command ends. A new node with its driver is ready in
about half of this time.
"""
OWN_DEADLINE = (RepairStep.DRAIN, RepairStep.UNCORDON)
REMINDER = timedelta(minutes=2)
"""Time after which the text about a wait is printed again, if nothing else has been printed."""
FAILURES = 12
"""Number of consecutive requests without an answer after which the command ends."""


def unfinished(cluster: RepairCluster, node: str) -> Record | None:
    """The unfinished repair of a node; None if there is none. `node` may be the repaired node or its successor."""
    open_ones = [each for each in cluster.records() if not each.has_ended]
    return next((each for each in open_ones if node in (each.node, each.new_node)), None)


def action_of(advice: str, *, reboot: bool | None) -> Action:
    """Action of a repair. `reboot` is the user's choice between a restart and a replacement; if it is None, `advice`
    from the evidence decides.
    """
    wanted = advice == "reboot" if reboot is None else reboot
    return "reboot" if wanted else "replace"


def new_record(  # noqa: PLR0917 - what a repair is
    node: Json,
    action: Action,
    reason: str,
    world: World,
    wait: timedelta,
    level: AcceptanceLevel = "quick",
) -> Record:
    """The record of a new repair of `node`, not yet saved in the cluster.

    Raises:
        Stopped: the node is in no GPU pool, or the pool's limit does not allow the repair.
    """
    pool = pool_of(node)
    if pool not in world.expected:
        raise Stopped(f"{name(node)} is of pool {pool or 'no'}, which is not a GPU pool of the stack")
    earlier = [each.earlier + 1 for each in world.cluster.records() if each.node_uid == uid(node)]
    now = world.now().replace(microsecond=0)
    record = Record(
        node=name(node),
        node_uid=uid(node),
        boot_id=boot_id(node),
        pool=pool,
        provider_id=str(at(node, "spec.providerID", "")) if world.machines is not None else "",
        action=action,
        started=now,
        deadline=now + wait,
        reason=reason,
        level=level,
        uids_before=tuple(sorted(uid(each) for each in world.cluster.nodes(pool))),
        earlier=max(earlier, default=0),
    )
    if why := budget_refusal(record, world):
        raise Stopped(why)
    return record


def begin(record: Record, world: World) -> Record:
    """Reserves the pool for a new repair and saves the repair's record. Returns the record as it is saved in the
    cluster.

    All conditions are checked again, because a person was asked for confirmation after `new_record` checked them.

    Raises:
        Stopped: another command has begun a repair of the pool meanwhile, or the pool's limit is reached.
    """
    try:
        reserve(world.cluster, record, world.now())
    except Taken as taken:
        raise Stopped(str(taken)) from None
    found = world.cluster.begin(record)
    why = budget_refusal(found, world)
    if not why and not is_reserved(world.cluster, found):  # the process was suspended until the reservation had expired
        why = f"another command has begun a repair of pool {found.pool} meanwhile"
    if why:
        keep_record(found.at(RepairStep.DONE, outcome=f"not begun: {why}"), world)
        raise Stopped(why)
    return found


def repair(record: Record, world: World, say: Callable[[str], None], sleep: Callable[[float], None]) -> Record:
    """Continues a repair to its end. After each step the record is saved in the cluster.

    Raises:
        Stopped: a person has to act before the repair can continue.
        Unreachable, Unusable, NoAnswer, Refused: the cluster or Azure did not answer for a while, or refuses.
    """
    failures, said = 0, ""
    since = printed = world.now()
    while not record.has_ended:
        try:
            result = perform(record, world)
            if isinstance(result, Record):
                keep_record(result, world)
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
                since = world.now()
            record, said = result, ""
            continue
        waited = world.now() - since
        if result != said:
            say(f"{record.step.value}: waiting for {result}")
            said, printed = result, world.now()
        elif world.now() - printed >= REMINDER:
            say(f"{record.step.value}: still waiting after {int(waited.total_seconds()) // 60} min for {result}")
            printed = world.now()
        if record.step not in OWN_DEADLINE and not _awaits_a_person(record) and waited > PATIENCE:
            raise Stopped(f"{record.step.value} has waited {PATIENCE.seconds // 60} minutes for {result}")
        sleep(POLL_SECONDS)
    return record


def _awaits_a_person(record: Record) -> bool:
    return record.step is RepairStep.REMOVE and is_by_hand(record)


def keep_record(record: Record, world: World) -> None:
    """Saves a record after a step.

    Raises:
        Stopped: another command is continuing the repair.
    """
    try:
        world.cluster.save(record)
    except Changed:
        raise Stopped(f"another command goes on with the repair of {record.node}") from None


def cancel(record: Record, world: World) -> Record:
    """Ends a repair at its present step. The node returns to work if its machine was not touched.

    A new node that has not passed acceptance stays cordoned, and needs a repair of its own. A node also stays cordoned
    if NVSentinel or a person has cordoned it before or during the repair. A node that somebody has uncordoned stays
    uncordoned.
    """
    touched = record.step not in (RepairStep.EVIDENCE, RepairStep.CORDON, RepairStep.DRAIN, RepairStep.REPORT)
    for each in world.cluster.nodes(record.pool):
        if held_by(each) != record.name:
            continue
        own = not touched and uid(each) == record.node_uid
        keep = not own or record.cordoned_before or QUARANTINE_ANNOTATION in annotations_of(each)
        try:
            world.cluster.uncordon(each, keep_cordoned=keep or not is_cordoned(each))
        except Changed:
            raise Stopped(f"{name(each)} was changed at this moment; run the command again") from None
    ended = record.at(RepairStep.DONE, outcome=f"canceled at the step {record.step.value}")
    keep_record(ended, world)
    return ended
