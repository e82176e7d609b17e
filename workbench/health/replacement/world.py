"""Interfaces to the cluster and to Azure that a repair uses, the error that stops it, and the check before every
change.
"""

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
    """Error if a person has to act before the repair can continue.

    The repair's record is kept, and the same command resumes the repair.
    """


@dataclass(frozen=True)
class Standing:
    """Evidence that an accepted node is still faulty, and texts about evidence that could not be read."""

    causes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Texts about evidence that could not be read."""


@dataclass(frozen=True)
class World:
    """Interfaces to the cluster and to Azure, and facts about the pools, that a repair uses."""

    cluster: RepairCluster
    machines: Machines | None
    """Client for the machines in Azure; None if the cluster's machines are not in Azure."""
    expected: Mapping[str, Mapping[str, int]]
    """Number of GPUs and adapters that a node should offer, by pool and resource name."""
    least: Mapping[str, AcceptanceLevel]
    """Lowest acceptance level, by pool, that runs programs on every GPU of a node."""
    gather: Callable[[str], Mapping[str, Any]]
    """Function that returns the evidence about a node as JSON data."""
    report: Callable[[Record, Mapping[str, Any]], str] | None
    """Function that reports the repair with its evidence to Azure, unless Azure already has the report, and returns the
    name of the report; None if no report is to be sent.
    """
    accept: Callable[[str, AcceptanceLevel], str]
    """Function that runs acceptance on a node. Returns the reason why the node did not pass; empty if it passed."""
    standing: Callable[[Record], Standing]
    """Function that returns the alerts, conditions and closed gates that stand against the repair's new node now."""
    now: Callable[[], datetime]
    hold: timedelta = timedelta(minutes=30)
    """Longest time after acceptance for which alerts and conditions of the node may persist before the repair stops. An
    Xid error causes alerts for up to 20 minutes: it is counted for 5 minutes, and the longest alert looks back over 15
    minutes.
    """


def same(record: Record, world: World) -> Json | None:
    """The Node object of the repair. None if the object has left the cluster, or if a new machine now has its name."""
    node = world.cluster.node(record.node)
    return node if node is not None and uid(node) == record.node_uid else None


def check_held(record: Record, node: Json) -> None:
    """Raises Stopped if the repair no longer holds the node: somebody has uncordoned it, or another repair has cordoned
    it.
    """
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
