"""Last steps of a repair: acceptance of the node, and its return to work when no evidence of a fault is left."""

from __future__ import annotations

from parts.nvsentinel.names import QUARANTINE_ANNOTATION
from physical_ai.kubernetes.objects import Json, annotations_of
from workbench.health.replacement.cluster import boot_id, held_by, is_cordoned, uid
from workbench.health.replacement.machine_steps import unready
from workbench.health.replacement.record import Record, RepairStep
from workbench.health.replacement.world import Stopped, World, check_held


def accept(record: Record, world: World) -> Record | str:
    """Runs acceptance at the level that the node's fault requires. Returns the next record, or a text about what the
    step waits for.
    """
    node = _new(record, world)
    if node is None or boot_id(node) != record.new_boot_id:
        return again(record)
    check_held(record, node)
    why = world.accept(record.new_node, record.level)
    if why:
        raise Stopped(
            f"{record.new_node} did not pass acceptance of the level {record.level} and stays cordoned: {why}. Run the"
            f" command again to repeat the acceptance, or with --cancel and then for {record.new_node}"
        )
    return record.at(RepairStep.UNCORDON, proven=world.now())


def uncordon(record: Record, world: World) -> Record | str:
    """Returns an accepted node to work, unless there is still evidence of a fault. Returns the next record, or a text
    about what the step waits for.
    """
    node = _new(record, world)
    if node is None or boot_id(node) != record.new_boot_id:
        return again(record)
    if not held_by(node):  # an earlier attempt has uncordoned the node, and ended before it could record that
        return record.at(RepairStep.DONE, outcome=f"{record.new_node} was accepted" + _state(is_cordoned(node)))
    check_held(record, node)
    # A record of an earlier version has no time.
    until = (record.proven or record.started) + world.hold
    found = world.standing(record)
    waits = [*filter(None, [unready(record, world, node)]), *found.causes]
    if waits:
        if world.now() >= until:
            raise Stopped(
                f"{record.new_node} passed acceptance, but stays cordoned: {'; '.join(waits)}. Repair what this names,"
                " and run the command again; or end the repair with --cancel"
            )
        return f"what still speaks against {record.new_node} to end, until {until:%H:%M} UTC: {'; '.join(waits)}"
    # The node is read again: the checks above took a while, and the uncordon is for this version of the node only.
    node = _new(record, world)
    if node is None or boot_id(node) != record.new_boot_id:
        return again(record)
    check_held(record, node)
    keep = record.cordoned_before or QUARANTINE_ANNOTATION in annotations_of(node)
    world.cluster.uncordon(node, keep_cordoned=keep)
    unknown = f"; not known: {'; '.join(found.unread)}" if found.unread else ""
    return record.at(RepairStep.DONE, outcome=f"{record.new_node} was accepted{_state(keep)}{unknown}")


def _state(cordoned: bool) -> str:
    return " and stays cordoned, as it was before" if cordoned else " and takes work"


def again(record: Record) -> Record:
    """The record set back to the step RESTORE, with the node's acceptance deleted, for a new node that has left the
    cluster or restarted.
    """
    return record.at(RepairStep.RESTORE, new_boot_id="", offered=None, proven=None)


def _new(record: Record, world: World) -> Json | None:
    node = world.cluster.node(record.new_node)
    return node if node is not None and uid(node) == record.new_uid else None
