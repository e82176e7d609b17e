"""Plan of an upgrade node by node: what each node would do, and what stands against the upgrade. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.settings import DriverSource, Settings
from workbench.moves.emptying import SERVICES, owners
from workbench.moves.request import Refused
from workbench.rolls.deciding import is_upgraded_by_others, left_out
from workbench.rolls.view import FAILED, Node, View

GATED: Mapping[DriverSource, str] = {
    DriverSource.OPERATOR: (
        "its nodes have no driver Pod of the GPU Operator yet; physai gates shows why, and a node without a driver"
        " gets the newest one by itself"
    ),
    DriverSource.GRID: (
        "the GRID agent upgrades its nodes by itself: set gridDriver.updateStrategy: OnDelete, deploy that, with"
        " another driver or before it, and run this command after it"
    ),
    DriverSource.AKS: (
        "its driver is part of the node image: physai move STACK POOL --to nodeImage=newest; for operands of the GPU"
        " Operator, set daemonsets.updateStrategy: OnDelete in values/gpu-operator/values.yaml, and deploy that first"
    ),
    DriverSource.HOST: (
        "its driver is installed by the owner of the nodes; for operands of the GPU Operator, set"
        " daemonsets.updateStrategy: OnDelete in values/gpu-operator/values.yaml, and deploy that first"
    ),
}
"""Advice for a pool without Pods that wait for this command, by driver source."""


@dataclass(frozen=True)
class Row:
    """Plan for one node. `phase`: of a node that is held already, or whose turn has begun."""

    node: str
    does: str
    phase: str = ""
    outdated: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The plan.

    Attributes:
        changes: Differences between the drivers in the stack's files and in the cluster, as texts; None if they cannot
            be compared.
        problems: What stands against the upgrade; empty if it can begin.
    """

    rows: tuple[Row, ...]
    changes: tuple[str, ...] | None
    problems: tuple[str, ...] = ()

    @property
    def has_nothing_to_do(self) -> bool:
        """True if the cluster has what the stack's files say, on every node, and no node is held."""
        return self.changes == () and not any(each.outdated or each.phase for each in self.rows)


def check_pool(settings: Settings, pool: str) -> None:
    """Raises Refused if the stack has no such GPU pool."""
    if settings.record:
        raise Refused(f"{settings.stack} records the past: it is not deployed")
    if pool not in settings.pools:
        raise Refused(f"{settings.stack} has no GPU pool '{pool}'; it has {', '.join(settings.pools) or 'none'}")


def plan_of(
    view: View, settings: Settings, pool: str, changes: Sequence[str] | None, *, restart_services: bool
) -> Plan:
    """The plan of an upgrade of a pool."""
    problems: list[str] = []
    source = settings.pools[pool].driver.source
    if not view.nodes:
        problems.append(f"{pool} has no nodes: a new node gets the newest driver by itself")
    elif not any(each.parts for each in view.nodes):
        fix = GATED[source].replace("STACK POOL", f"{settings.stack} {pool}")
        problems.append(f"nothing in {pool} waits for this command: {fix}")
    problems += _by_hand(view, pool)
    failed = [each.name for each in view.nodes if each.mark is None and each.state == FAILED]
    if failed:
        fix = "correct what stopped it, which physai gates says, and begin again"
        problems.append(f"the driver's upgrade has failed on {', '.join(failed)}: {fix}")
    problems += _endless(view, restart_services=restart_services)
    return Plan(tuple(map(_row, view.nodes)), None if changes is None else tuple(changes), tuple(problems))


def _by_hand(view: View, pool: str) -> list[str]:
    """Text about a pool whose drivers the GPU Operator does not upgrade by itself."""
    manual = [each.name for each in view.nodes if each.has_operators_driver and not each.upgraded and each.state == ""]
    if not manual:
        return []
    fix = f"set driver.upgradePolicy.autoUpgrade: true in values/gpu-operator/values.yaml or pools/{pool}.yaml"
    return [f"the GPU Operator does not upgrade the driver of {', '.join(manual)} (autoUpgrade): {fix}, and deploy it"]


def _endless(view: View, *, restart_services: bool) -> list[str]:
    """Texts about Pods that never end by themselves."""
    running = [(node, each) for node in view.nodes if not left_out(node) for each in node.running]
    endless = [(node, each) for node, each in running if each.controller in SERVICES]
    bound = [each for node, each in endless if (each.namespace, each.name) not in node.services]
    free = [each for node, each in endless if (each.namespace, each.name) in node.services]
    found: list[str] = []
    if bound:
        fix = "it has data in emptyDir: delete it, or annotate its Pods with cluster-autoscaler's safe-to-evict=true"
        found.append(f"{owners(bound)} never ends, and is not restarted elsewhere; {fix}")
    if free and not restart_services:
        fix = "--restart-services lets it start again on another node, as disruption budgets allow"
        found.append(f"{owners(free)} never ends: {fix}")
    return found


def _row(node: Node) -> Row:
    outdated = tuple(each.daemon_set for each in node.parts if each.is_outdated)
    return Row(node.name, _does(node), node.mark.phase if node.mark else "", outdated)


def _does(node: Node) -> str:
    if node.mark is not None and node.mark.phase == "failed":
        return f"failed: {node.mark.reason}"
    if is_upgraded_by_others(node):
        return f"is upgraded by the GPU Operator at present ({node.state}), without this command"
    if why := left_out(node):
        return f"is left out: {why}"
    if node.running:
        return f"waits for {owners(node.running)}"
    return "has no work"


def spec_changes(name: str, wanted: Mapping[str, Any], present: Mapping[str, Any] | None) -> list[str]:
    """Differences between an object's wanted fields and those in the cluster, which may have more."""
    if present is None:
        return [f"{name} is new"]
    return list(_changes(name, wanted, present))


def _changes(path: str, wanted: Any, present: Any) -> list[str]:
    if is_mapping(wanted) and is_mapping(present):
        return [line for key in wanted for line in _changes(f"{path}.{key}", wanted[key], present.get(key))]
    if wanted == present or (not wanted and not present):
        return []
    return [f"{path}: {_said(present)} → {_said(wanted)}"]


def _said(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
