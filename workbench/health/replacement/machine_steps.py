"""Steps of a repair that concern the machine: removing the machine, restoring the pool's number of nodes, and waiting
for the node that replaces the repaired one.
"""

from __future__ import annotations

from physical_ai.kubernetes.objects import Json, at, is_ready, name
from physical_ai.readiness.objects import allocatable
from workbench.health.arm import NoAnswer
from workbench.health.replacement.cluster import boot_id, held_by, is_cordoned, uid
from workbench.health.replacement.drain import load_of
from workbench.health.replacement.machines import Machines, machine_id
from workbench.health.replacement.record import Record, RepairStep
from workbench.health.replacement.world import Stopped, World, check_held, same


def is_by_hand(record: Record) -> bool:
    """True if only a person can restart or delete the machine, because it is not in an Azure scale set."""
    return not machine_id(record.provider_id)


def remove(record: Record, world: World) -> Record | str:
    """Deletes or restarts the machine, or waits until a person has done so. Returns the next record, or a text about
    what the step waits for.
    """
    if is_by_hand(record):
        return _by_hand(record, world)
    return _restart(record, world) if record.action == "reboot" else _delete(record, world)


def _by_hand(record: Record, world: World) -> Record | str:
    node = same(record, world)
    if record.removed is None:
        return _begun(record, world, node)
    if node is None or boot_id(node) != record.boot_id:
        return record.at(RepairStep.RESTORE)
    check_held(record, node)
    _check_empty(record, world)
    what = (
        f"you to restart {record.node} by your own means (it is cordoned and has no work)"
        if record.action == "reboot"
        else f"you to have the machine of {record.node} exchanged or repaired, and to start it (it has no work)"
    )
    until = f"{record.deadline:%Y-%m-%d %H:%M} UTC"
    if world.now() >= record.deadline:
        raise Stopped(
            f"{record.node} was not restarted until {until} and stays cordoned. Restart it, and run the command again;"
            " or end the repair with --cancel"
        )
    return f"{what}, until {until}"


def _restart(record: Record, world: World) -> Record | str:
    node = same(record, world)
    if node is None:
        return record.at(RepairStep.DONE, outcome=f"{record.node} left the cluster before it was restarted")
    if boot_id(node) == record.boot_id:
        check_held(record, node)
        _check_empty(record, world)
        if not _azure(world).restart(record.provider_id):
            return f"another operation of Azure on {record.node}"
    return record.at(RepairStep.RESTORE, removed=world.now())


def _delete(record: Record, world: World) -> Record | str:
    pool, node = _azure(world).pool(record.pool), same(record, world)
    if record.removed is None:
        return _begun(record, world, node, pool.count)
    if not pool.is_settled:
        return f"Azure's operation on pool {record.pool} ({pool.state})"
    if node is None:
        return record.at(RepairStep.RESTORE)
    check_held(record, node)
    _check_empty(record, world)
    if not _azure(world).delete(record.pool, record.node):
        return f"another operation of Azure on pool {record.pool}"
    return f"Azure to delete the machine of {record.node}"


def _begun(record: Record, world: World, node: Json | None, count: int = 0) -> Record:
    """The record at the step REMOVE, with the number and the uids of the pool's nodes before the removal.

    If `node` is None, the machine has left by itself, for example as an evicted Spot VM. Its successor may then already
    be in the pool, so the record keeps the uids that it took at the beginning of the repair.
    """
    if node is None:
        return record.at(RepairStep.REMOVE, removed=world.now(), nodes_before=max(count, len(record.uids_before)))
    uids = tuple(sorted({uid(each) for each in world.cluster.nodes(record.pool)} | {record.node_uid}))
    return record.at(RepairStep.REMOVE, removed=world.now(), nodes_before=count, uids_before=uids)


def _check_empty(record: Record, world: World) -> None:
    """Raises Stopped if work runs on the node, because Azure deletes or restarts the machine without draining it."""
    load = load_of(world.cluster.pods(record.node))
    if not load.is_gone:
        there = ", ".join(f"{each[0]}/{each[1]}" for each in (*load.evicted, *load.awaited))
        raise Stopped(f"{record.node} has work again after its drain: {there}; nothing was removed")


def restore(record: Record, world: World) -> Record | str:
    """Brings a pool back to its number of nodes after a machine was deleted. Returns the next record, or a text about
    what the step waits for.
    """
    if record.action == "reboot" or is_by_hand(record):
        return record.at(RepairStep.AWAIT)
    pool = _azure(world).pool(record.pool)
    if not pool.is_settled:
        return f"Azure's operation on pool {record.pool} ({pool.state})"
    wanted = pool.least if pool.autoscaled else record.nodes_before
    if pool.count < wanted and not _azure(world).resize(record.pool, wanted):
        return f"another operation of Azure on pool {record.pool}"
    return record.at(RepairStep.AWAIT)


def await_node(record: Record, world: World) -> Record | str:
    """Waits for the repair's new node, cordons it at once, and waits until it offers its GPUs. Returns the next record,
    or a text about what the step waits for.

    After a restart, the new node is the repaired node itself.
    """
    if record.action == "reboot" and same(record, world) is None:
        ended = f"{record.node} left the cluster during its restart; nothing is left to accept"
        return record.at(RepairStep.DONE, outcome=ended)
    node = _successor(record, world)
    if node is None:
        return _no_successor(record, world)
    if held_by(node) == record.name or record.action == "reboot":
        check_held(record, node)
    elif (record.new_uid, record.cordoned_before) != (uid(node), is_cordoned(node)):
        # The state of the cordon is recorded first: afterwards the cordon is the repair's own.
        return record.at(RepairStep.AWAIT, new_node=name(node), new_uid=uid(node), cordoned_before=is_cordoned(node))
    else:
        world.cluster.cordon(node, record.name)
    if waiting := unready(record, world, node):
        return waiting
    return record.at(
        RepairStep.ACCEPT, new_node=name(node), new_uid=uid(node), new_boot_id=boot_id(node), offered=world.now()
    )


def _no_successor(record: Record, world: World) -> Record | str:
    if record.action == "reboot":
        return f"{record.node} to restart"
    if not is_by_hand(record):
        pool = _azure(world).pool(record.pool)
        if pool.is_settled and pool.autoscaled and pool.count <= len(world.cluster.nodes(record.pool)):
            ended = f"machine deleted; pool {record.pool} scales automatically and needs no further node now"
            return record.at(RepairStep.DONE, outcome=ended)
    return f"a new node of pool {record.pool}"


def unready(record: Record, world: World, node: Json) -> str:
    """Conditions that a node still has to meet before it can take work: readiness, or its GPUs. Empty if it meets
    them.
    """
    if not is_ready(node):
        return f"{name(node)} to become Ready"
    offered = allocatable(node)
    missing = {key: count for key, count in world.expected.get(record.pool, {}).items() if offered.get(key, 0) < count}
    counts = ", ".join(f"{offered.get(key, 0)} of {count} {key}" for key, count in missing.items())
    return f"the GPUs of {name(node)}: {counts}" if counts else ""


def _successor(record: Record, world: World) -> Json | None:
    """The node that replaces the repaired one: after a restart the repaired node itself, else a new node of the pool;
    None if there is no such node yet.
    """
    node = same(record, world)
    if record.action == "reboot" or is_by_hand(record):
        if node is not None and boot_id(node) != record.boot_id:
            return node
        if record.action == "reboot":
            return None
    new = [
        each
        for each in world.cluster.nodes(record.pool)
        if uid(each) not in record.uids_before and held_by(each) in ("", record.name)
    ]
    held = [each for each in new if held_by(each) == record.name]
    known = [each for each in new if uid(each) == record.new_uid]
    return next(
        iter(held or known or sorted(new, key=lambda each: str(at(each, "metadata.creationTimestamp", "")))), None
    )


def _azure(world: World) -> Machines:
    if world.machines is None:
        raise NoAnswer("no login to Azure, whose machine this is")
    return world.machines
