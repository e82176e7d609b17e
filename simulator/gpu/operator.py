"""The GPU Operator without an API server: computes the operator's writes from the state that the operator sees.

Four controllers share the work; the controller of NVIDIADrivers is in `driver_controller`. `wakes` returns the
controllers that a change of the cluster wakes, and `reconcile` returns the writes of these controllers. Both functions
are pure. The caller applies the writes, lets the cluster react, and repeats this until no controller wakes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from simulator.cluster.objects import at, labels, name
from simulator.gpu import (
    driver,
    driver_controller,
    driver_files,
    names,
    operands,
    status,
    supporting_objects,
    upgrading,
)
from simulator.gpu.driver import DriverFault
from simulator.gpu.labels import is_gpu_node, is_managed, labelling_pass, starts_pass
from simulator.gpu.release import operand, release
from simulator.gpu.run import Run
from simulator.gpu.state import CONTROLLERS, Controller, Desired, State

PRIVILEGED = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


def wakes(before: State | None, after: State) -> frozenset[Controller]:
    """Controllers that run because the state has changed. If `before` is None, the operator has just started, and all
    controllers run.
    """
    if before is None:
        return frozenset(CONTROLLERS)
    found = release(after.release)
    awake: set[Controller] = set()
    spec_changed = before.spec != after.spec or name(before.policy or {}) != name(after.policy or {})
    drivers_changed = {k: v.get("spec") for k, v in before.drivers.items()} != {
        k: v.get("spec") for k, v in after.drivers.items()
    }
    nodes_changed = any(
        starts_pass(found, after.spec, _labels(before, key), _labels(after, key))
        for key in before.nodes.keys() | after.nodes.keys()
    )
    if nodes_changed or spec_changed:
        awake.add("labels")
    # Deleting the ClusterPolicy that the operator follows wakes no controller for the next ClusterPolicy.
    if nodes_changed or (spec_changed and not _is_next(before, after)):
        awake.add("policy")
    if drivers_changed and found.labelling.own_controller:
        awake.add("labels")
    owned = _owned_changes(before, after)
    if "ClusterPolicy" in owned:
        awake.add("policy")
    relabelled = {k: labels(v) for k, v in before.nodes.items()} != {k: labels(v) for k, v in after.nodes.items()}
    came_or_went = (before.policy is None) != (after.policy is None)
    if drivers_changed or relabelled or "NVIDIADriver" in owned or came_or_went or _driver_files_changed(before, after):
        awake.add("driver")
    if spec_changed and found.follows_policy:
        awake.add("driver")
    if _policy_files_changed(before, after):
        awake.add("policy")
    if _starts_upgrades(before, after) or after.waited:
        awake.add("upgrade")
    if after.is_due and (relabelled or owned or (before.pods, before.validated) != (after.pods, after.validated)):
        awake.add("upgrade")
    if found.driver_owners and (relabelled or "NVIDIADriver" in owned):
        # The ClusterPolicy's status reports upgrades on owned nodes.
        awake.add("policy")
    if "policy" in awake and not found.labelling.own_controller:
        awake.add("labels")
    return frozenset(awake)


def _is_next(before: State, after: State) -> bool:
    """True if the operator now follows a ClusterPolicy that existed before the change, was ignored until then, and
    still has the same spec.
    """
    other = before.ignored.get(name(after.policy or {}))
    return other is not None and other.get("spec") == after.spec


def _starts_upgrades(before: State, after: State) -> bool:
    """True if an object has changed that the upgrade controller watches: a node, the template of a driver DaemonSet,
    the ClusterPolicy, or an NVIDIADriver (NVIDIA/gpu-operator, `SetupWithManager` in
    controllers/upgrade_controller.go).
    """

    def seen(state: State) -> tuple[Any, ...]:
        found = release(state.release)
        chosen = found.upgrades_on_labels
        nodes = {key: labels(node) for key, node in state.nodes.items()}
        watched = nodes if chosen is None else {k: [given.get(each) for each in chosen] for k, given in nodes.items()}
        generations = {
            key: at(item, "metadata.generation") for key, item in state.daemonsets.items() if driver.is_driver(item)
        }
        specs = {key: item.get("spec") for key, item in state.drivers.items()} if found.upgrades_on_drivers else {}
        return watched, generations, specs, state.policy is None

    return seen(before) != seen(after) or before.spec != after.spec


def _driver_files_changed(before: State, after: State) -> bool:
    """True if a ConfigMap has changed, and an NVIDIADriver that is not ready names it.

    The operator does not watch these ConfigMaps. It reads them every five seconds until the NVIDIADriver is ready.
    """
    waiting = [each for each in after.drivers.values() if at(each, "status.state", "") != status.READY]
    named = {key for each in waiting for key in driver_files.maps_of(at(each, "spec", {}))}
    return any(before.files(key) != after.files(key) for key in named)


def _policy_files_changed(before: State, after: State) -> bool:
    """True if a ConfigMap of the ClusterPolicy's own driver changed and the ClusterPolicy is not ready."""
    if at(after.policy, "status.state", "") == status.READY or driver.crds_in_charge(after.spec):
        return False
    return any(before.files(key) != after.files(key) for key in driver_files.maps_of(at(after.spec, "driver", {})))


def _labels(state: State, key: str) -> dict[str, str] | None:
    return labels(state.nodes[key]) if key in state.nodes else None


def _owned_changes(before: State, after: State) -> set[str]:
    """Kinds of the objects that own any created, changed or deleted DaemonSet."""
    changed: set[str] = set()
    for key in before.daemonsets.keys() | after.daemonsets.keys():
        old, new = before.daemonsets.get(key), after.daemonsets.get(key)
        if old != new:
            for reference in at(new or old, "metadata.ownerReferences", []):
                if reference["kind"] != "ClusterPolicy" or reference["name"] == name(after.policy or {}):
                    changed.add(str(reference["kind"]))
    return changed


def reconcile(state: State, awake: Collection[Controller] = CONTROLLERS) -> Desired:
    """Writes of the woken controllers, in order.

    Args:
        state: The present cluster.
        awake: Controllers to run, as returned by `wakes`; all of them by default.
    """
    run = Run(state)
    work = {
        "labels": _label,
        "driver": driver_controller.reconcile,
        "policy": _policy,
        "upgrade": upgrading.upgrade_drivers,
    }
    # Without a ClusterPolicy nothing is labelled. Until v26.3 the upgrade controller does nothing either.
    idle = {"labels", "policy", *(("upgrade",) if run.found.policy_required else ())}
    for controller in CONTROLLERS:
        if controller in awake and (state.policy is not None or controller not in idle):
            run.controller = controller
            work[controller](run)
    return Desired(tuple(run.steps))


def _label(run: Run) -> None:
    """Runs one labelling pass over all nodes. Then sets the label that names each node's NVIDIADriver, and the
    annotation that enables upgrades of the node's driver.
    """
    for key, changes in labelling_pass(run.found, run.spec, run.state.nodes).items():
        run.label(key, changes)
    _own(run)
    marked = upgrading.upgradable(run)
    by_driver = run.found.upgrade_annotation == "owned" and driver.crds_in_charge(run.spec)
    for key, node in sorted(run.state.nodes.items()):
        # The mark of an NVIDIADriver that was deleted stays.
        if is_managed(labels(node)) and (not by_driver or upgrading.owner_of(run.state, node) is not None):
            run.annotate(key, names.UPGRADE_ENABLED, "true" if key in marked else None)


def _own(run: Run) -> None:
    state = run.state
    if not run.found.driver_owners or not driver.crds_in_charge(run.spec):
        return
    if at(run.spec, "driver.enabled", True) is not True:
        return
    try:
        driver.check(run.found, state.drivers, state.nodes, "")
    except DriverFault:
        # No owner changes while NVIDIADrivers conflict; their status reports it.
        return
    for key, changes in driver.owner_labels(state.drivers, state.nodes).items():
        run.label(key, changes)


def _policy(run: Run) -> None:
    """Reconciles the ClusterPolicy: its RuntimeClasses, then one operand state after the other, then its status."""
    state, spec = run.state, run.spec
    if at(spec, "psa.enabled", False) is True and not PRIVILEGED.items() <= state.namespace_labels.items():
        run.add("label", "Namespace", state.namespace, PRIVILEGED)
    wanted, unwanted = supporting_objects.runtime_classes(spec, state.owner)
    for key in unwanted:
        run.remove("RuntimeClass", key)
    for item in wanted:
        run.ensure(item)
    run.ensure(supporting_objects.metrics_service(state.namespace, state.owner))
    has_gpus = any(is_gpu_node(labels(node)) for node in state.nodes.values())
    try:
        waiting = driver_controller.policy_driver(run, has_gpus)
    except driver_files.MissingFiles as fault:
        # The states after the one that fails wait for it.
        problem = status.error(
            "ReconcileFailed", f"Failed to reconcile state-driver: {fault}", namespace=state.namespace
        )
        run.status("ClusterPolicy", name(state.policy or {}), problem)
        return
    for key in operands.ORDER:
        waiting += _operand(run, key, has_gpus)
    run.status("ClusterPolicy", name(state.policy or {}), _policy_status(run, has_gpus, waiting))


def _operand(run: Run, key: str, has_gpus: bool) -> list[str]:
    """Creates or removes one operand. Returns a list with the operand's state name if the operand is not ready,
    otherwise an empty list.
    """
    state, spec, found = run.state, run.spec, run.found
    description = operand(found.version, key)
    companions = supporting_objects.companions(found, spec, key, state.namespace, state.owner)
    if not operands.is_enabled(description, spec):
        run.remove("DaemonSet", key)
        run.remove_all(companions)
        return []
    for item in companions:
        run.ensure(item)
    if not has_gpus:
        return []
    run.ensure(operands.daemonset(found, spec, key, state.namespace, state.owner))
    ready = status.is_ready(found, run.state.daemonsets[key])
    monitored = key == "nvidia-dcgm-exporter" and at(spec, "dcgmExporter.serviceMonitor.enabled", False) is True
    if monitored and found.service_monitor_required and "ServiceMonitor" not in state.crds:
        ready = False
    return [] if ready else [str(description["state"])]


def _policy_status(run: Run, has_gpus: bool, waiting: list[str]) -> dict[str, Any]:
    state, found = run.state, run.found
    where = {"namespace": state.namespace}
    if not has_gpus:
        return status.ready("NoGPUNodes", status.NO_GPU_NODES, **where)
    if found.driver_owners and driver.crds_in_charge(run.spec):
        try:
            driver.check(found, state.drivers, state.nodes, "")
        except DriverFault as fault:
            return status.error("ReconcileFailed", str(fault), **where)
    upgrades = found.driver_owners and driver.crds_in_charge(run.spec) and upgrading.is_under_way(state)
    if waiting or upgrades:
        return status.not_ready(found, waiting, upgrading=upgrades, **where)
    return status.ready("Reconciled", status.POLICY_RECONCILED, **where)
