"""The operator's side of driver upgrades: which nodes take part, counted with whom, and the steps of one pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.simulator.cluster.objects import at, labels
from physical_ai.simulator.gpu import driver, names, upgrade
from physical_ai.simulator.gpu.labels import is_managed
from physical_ai.simulator.gpu.run import Run
from physical_ai.simulator.gpu.state import State


def upgradable(run: Run) -> set[str]:
    """GPU nodes whose driver the upgrade controller may replace."""
    spec, state = run.spec, run.state
    managed = {key for key, node in state.nodes.items() if is_managed(labels(node))}
    automatic = at(spec, "driver.upgradePolicy.autoUpgrade", False) is True
    crds = driver.crds_in_charge(spec)
    if at(spec, "sandboxWorkloads.enabled", False) is True:
        return set()
    if run.found.upgrade_annotation != "owned" or not crds:
        driverless = not crds and at(spec, "driver.enabled", True) is not True
        return managed if automatic and (run.found.upgrade_annotation == "always" or not driverless) else set()
    marked: set[str] = set()
    for key in managed:
        owner = state.drivers.get(labels(state.nodes[key]).get(names.DRIVER_OWNER, ""))
        if owner is not None and at(owner, "spec.upgradePolicy.autoUpgrade", automatic) is True:
            marked.add(key)
    return marked


def is_under_way(state: State) -> bool:
    """Whether a node with an NVIDIADriver waits for another driver, gets one, or failed to."""
    given = [labels(node) for node in state.nodes.values()]
    return any(names.DRIVER_OWNER in each and upgrade.is_pending(each) for each in given)


def are_pending(state: State) -> bool:
    """Whether a node of the cluster waits for another driver, or gets one."""
    return any(upgrade.is_pending(labels(node)) for node in state.nodes.values())


def upgrade_drivers(run: Run) -> None:
    """One pass of the upgrade controller."""
    moves = [move for pool in _upgrade_pools(run) for move in upgrade.advance(pool)]
    for move in sorted(moves, key=lambda each: each.node):
        for key, value in move.annotations.items():
            run.annotate(move.node, key, value)
        if move.unschedulable is not None:
            run.add("cordon", "Node", move.node, move.unschedulable)
        if move.restart:
            run.add("restart", "Pod", move.node)
        for pod in move.evict:
            run.add("evict", "Pod", move.node, pod)
        run.label(move.node, {names.UPGRADE_STATE: move.state})


def _upgrade_pools(run: Run) -> list[upgrade.Pool]:
    """Each NVIDIADriver's nodes with its own policy, and the rest with that of the ClusterPolicy."""
    state = run.state
    common: Mapping[str, Any] = at(run.spec, "driver.upgradePolicy", {})
    by_driver = run.found.driver_owners and driver.crds_in_charge(run.spec)
    grouped: dict[str, dict[str, Any]] = {}
    for key, node in state.nodes.items():
        owner = labels(node).get(names.DRIVER_OWNER, "") if by_driver else ""
        grouped.setdefault(owner, {})[key] = node
    policies = {owner: at(state.drivers.get(owner, {}), "spec.upgradePolicy") or common for owner in grouped}
    return [
        upgrade.Pool(
            nodes=nodes,
            policy=policies[owner],
            pods=state.pods,
            validated=state.validated,
            validating=state.validating,
            workloads=state.workloads,
            waited=state.waited,
            now=state.now,
        )
        for owner, nodes in sorted(grouped.items())
    ]
