"""Part of the operator that upgrades drivers: selects the nodes that take part, groups them into pools, and runs one
pass over the pools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import at, labels
from simulator.gpu import driver, names, upgrade, upgrade_states
from simulator.gpu.labels import is_managed
from simulator.gpu.run import Run
from simulator.gpu.state import State
from simulator.gpu.upgrade_states import Note

DEFAULT_POLICY: Mapping[str, Any] = {
    "maxParallelUpgrades": 1,
    "maxUnavailable": "25%",
    "podDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": False},
    "waitForCompletion": {"podSelector": "", "timeoutSeconds": 0},
    "drain": {"enable": False, "force": False, "podSelector": "", "timeoutSeconds": 300, "deleteEmptyDir": False},
}
"""Upgrade policy of an NVIDIADriver from v26.7.0 on. An NVIDIADriver that leaves a field out gets the field's value
from here; an NVIDIADriver without any policy is upgraded, too (NVIDIA/gpu-operator v26.7.0,
`GetUpgradePolicyWithDefaults` in api/nvidia/v1alpha1/nvidiadriver_types.go).
"""


def owner_of(state: State, node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The NVIDIADriver that the node's label names; None if the node has no label or the NVIDIADriver does
    not exist.
    """
    return state.drivers.get(labels(node).get(names.DRIVER_OWNER, ""))


def policy_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The upgrade policy of an NVIDIADriver, completed by DEFAULT_POLICY. NVIDIADrivers have an upgrade policy from
    v26.7.0 on.
    """
    given: Mapping[str, Any] | None = at(item, "spec.upgradePolicy")
    if given is None:
        return {**DEFAULT_POLICY, "autoUpgrade": True}
    return {**DEFAULT_POLICY, **{key: value for key, value in given.items() if value is not None}}


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
    return {key for key in managed if _is_automatic(owner_of(state, state.nodes[key]))}


def _is_automatic(item: Mapping[str, Any] | None) -> bool:
    return item is not None and policy_of(item).get("autoUpgrade") is True


def is_under_way(state: State) -> bool:
    """True if any node with an NVIDIADriver waits for a driver upgrade, is being upgraded, or failed to upgrade.

    Nodes whose label excludes them from upgrades do not count (NVIDIA/gpu-operator, `nvidiaDriverUpgradeIncomplete`).
    """
    given = [labels(node) for node in state.nodes.values()]
    counted = [each for each in given if names.DRIVER_OWNER in each and each.get(names.UPGRADE_SKIP) != "true"]
    return any(upgrade.is_pending(each) for each in counted)


def are_pending(state: State) -> bool:
    """True if any node of the cluster waits for an upgrade of its driver, is being upgraded, or failed to upgrade."""
    return any(upgrade.is_pending(labels(node)) for node in state.nodes.values())


def upgrade_drivers(run: Run) -> None:
    """Runs one pass of the upgrade controller over the nodes."""
    for node in _abandoned(run):
        run.label(node, {names.UPGRADE_STATE: None})
    moves = [move for pool in _upgrade_pools(run) for move in upgrade.advance(pool)]
    for move in sorted(moves, key=lambda each: each.node):
        for key, value in move.annotations.items():
            run.annotate(move.node, key, value)
            text = "null" if value is None else value
            run.add("event", "Event", move.node, Note(f"Successfully updated node annotation to {key}={text}"))
        if move.unschedulable is not None:
            run.add("cordon", "Node", move.node, move.unschedulable)
        if move.restart:
            run.add("restart", "Pod", move.node)
        for pod in move.evict:
            run.add("evict", "Pod", move.node, pod)
        for note in move.notes:
            run.add("event", "Event", move.node, note)
        if labels(run.state.nodes[move.node]).get(names.UPGRADE_STATE) != move.state:
            run.label(move.node, {names.UPGRADE_STATE: move.state})
            run.add("event", "Event", move.node, Note(f"Successfully updated node state label to {move.state}"))


def _by_driver(run: Run) -> bool:
    """True if each NVIDIADriver has its own upgrade policy and its own limit of parallel upgrades."""
    return run.found.driver_owners and (run.state.policy is None or driver.crds_in_charge(run.spec))


def _abandoned(run: Run) -> list[str]:
    """Nodes whose upgrade state is removed because their drivers are no longer upgraded automatically.

    Removing the state does not uncordon a node (NVIDIA/gpu-operator, `removeNodeUpgradeStateLabels` and its variant for
    one NVIDIADriver).
    """
    state = run.state
    marked = sorted(key for key, node in state.nodes.items() if names.UPGRADE_STATE in labels(node))
    if at(run.spec, "sandboxWorkloads.enabled", False) is True and not _by_driver(run):
        return marked
    if not _by_driver(run):
        return [] if at(run.spec, "driver.upgradePolicy.autoUpgrade", False) is True else marked
    if not any(_is_automatic(item) for item in state.drivers.values()):
        return marked
    return [key for key in marked if (item := owner_of(state, state.nodes[key])) and not _is_automatic(item)]


def _upgrade_pools(run: Run) -> list[upgrade_states.Pool]:
    """Pools of nodes to upgrade: one pool for each NVIDIADriver with its own upgrade policy, or one pool of all nodes
    with the ClusterPolicy's upgrade policy.
    """
    state = run.state
    grouped: dict[str, dict[str, Any]] = {}
    policies: dict[str, Mapping[str, Any]] = {}
    if _by_driver(run):
        for key, node in state.nodes.items():
            item = owner_of(state, node)
            if item is not None and _is_automatic(item):
                owner = labels(node)[names.DRIVER_OWNER]
                grouped.setdefault(owner, {})[key] = node
                policies[owner] = policy_of(item)
    elif at(run.spec, "driver.upgradePolicy.autoUpgrade", False) is True:
        grouped[""] = dict(state.nodes)
        policies[""] = at(run.spec, "driver.upgradePolicy", {})
    return [
        upgrade_states.Pool(
            nodes=nodes,
            policy=policies[owner],
            pods=state.pods,
            validated=state.validated,
            validating=state.validating,
            workloads=state.workloads,
            waited=state.waited,
            now=state.now,
            restarts_in_place=run.found.restarts_in_place,
        )
        for owner, nodes in sorted(grouped.items())
    ]
