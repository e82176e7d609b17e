"""Interfaces that a repair uses, the error that ends a repair early, and the check before every change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from physical_ai.catalog.acceptance import AcceptanceLevel
from physical_ai.kubernetes.objects import Json
from workbench.health.replacement.cluster import RepairCluster, held_by, is_cordoned, uid
from workbench.health.replacement.machines import Machines
from workbench.health.replacement.record import Record


class Stopped(Exception):
    """Error if the repair cannot continue without an action.

    Its record is kept, and the same command resumes the repair.
    """


@dataclass(frozen=True)
class Standing:
    """Remaining evidence against an accepted node: its causes, and what could not be read."""

    causes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Evidence that could not be read, so that it is not known."""


@dataclass(frozen=True)
class World:
    """The cluster, Azure and other interfaces that a repair uses."""

    cluster: RepairCluster
    machines: Machines | None
    """Machines in Azure; None where Azure has nothing to do with the cluster's machines."""
    expected: Mapping[str, Mapping[str, int]]
    """Resources that a node of each pool should offer."""
    least: Mapping[str, AcceptanceLevel]
    """The lowest level of each pool that runs programs on every GPU of a node."""
    gather: Callable[[str], Mapping[str, Any]]
    """Returns the evidence about a node, as JSON."""
    report: Callable[[Record, Mapping[str, Any]], str] | None
    """Sends the report about the repair with this evidence to Azure unless that has been done; its name. None: no
    report is sent."""
    accept: Callable[[str, AcceptanceLevel], str]
    """Function that runs acceptance on a node; returns why it did not pass, or an empty text."""
    standing: Callable[[Record], Standing]
    """Returns the alerts, conditions and gates against the repair's new node now."""
    now: Callable[[], datetime]
    hold: timedelta = timedelta(minutes=30)
    """Time that alerts and conditions of a repaired node may take to end: an Xid is counted for 5 minutes after it,
    and the longest alert about one looks back over 15 more."""


def same(record: Record, world: World) -> Json | None:
    """The node, if it is still the Node object from the beginning of the repair; None if it has left
    the cluster, or if another machine has its name by now.
    """
    node = world.cluster.node(record.node)
    return node if node is not None and uid(node) == record.node_uid else None


def check_held(record: Record, node: Json) -> None:
    """Raises Stopped if the repair no longer holds the node: somebody has uncordoned it, or another repair holds it."""
    named, holder = str(node["metadata"]["name"]), held_by(node)
    if is_cordoned(node) and holder == record.name:
        return
    if holder and holder != record.name:
        what = f"is held by another repair, {holder}"
    elif is_cordoned(node):
        what = "is no longer this repair's: its annotation was removed, and another holder keeps the node cordoned"
    else:
        what = "was uncordoned during its repair"
    raise Stopped(
        f"{named} {what}; nothing more is done to it. physai node replace {record.node} --cancel ends the repair; the"
        " same command then begins another one"
    )
