"""The GPU Operator, without an API server: from what it sees to what it writes.

Four controllers share the work. `wakes` returns those that a change of the cluster wakes, `reconcile` their changes.
Both are pure. The caller applies the steps, lets the cluster react, and calls again until no controller wakes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from physical_ai.simulator.cluster.objects import at, labels, name
from physical_ai.simulator.cluster.objects import owner as owner_of
from physical_ai.simulator.gpu import driver, names, operands, status, supporting_objects, upgrading
from physical_ai.simulator.gpu.driver import DriverFault
from physical_ai.simulator.gpu.labels import is_gpu_node, is_managed, labelling_pass, starts_pass
from physical_ai.simulator.gpu.release import operand, release
from physical_ai.simulator.gpu.run import Run
from physical_ai.simulator.gpu.state import CONTROLLERS, Controller, Desired, State

PRIVILEGED = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


def wakes(before: State | None, after: State) -> frozenset[Controller]:
    """Controllers that run because of what changed; all of them when the operator starts (`before` is None)."""
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
        awake |= {"policy", "labels"}
    if drivers_changed and found.labelling.own_controller:
        awake.add("labels")
    owned = _owned_changes(before, after)
    if "ClusterPolicy" in owned:
        awake.add("policy")
    relabelled = {k: labels(v) for k, v in before.nodes.items()} != {k: labels(v) for k, v in after.nodes.items()}
    arrived = any(("ConfigMap", each) in after.others.keys() - before.others.keys() for each in _modules_maps(after))
    if drivers_changed or relabelled or "NVIDIADriver" in owned or arrived or (spec_changed and found.follows_policy):
        awake.add("driver")
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


def _starts_upgrades(before: State, after: State) -> bool:
    """Whether something has changed that the upgrade controller watches: nodes, and templates of driver DaemonSets."""

    def seen(state: State) -> tuple[dict[str, Any], dict[str, Any]]:
        any_label = release(state.release).upgrades_on_any_label
        nodes = {key: labels(node) for key, node in state.nodes.items()}
        states = {key: given if any_label else given.get(names.UPGRADE_STATE) for key, given in nodes.items()}
        generations = {
            key: at(item, "metadata.generation") for key, item in state.daemonsets.items() if driver.is_driver(item)
        }
        return states, generations

    return seen(before) != seen(after) or before.spec != after.spec


def _modules_maps(state: State) -> set[str]:
    """ConfigMaps that NVIDIADrivers name. One that does not exist is looked for again and again."""
    return {name for each in state.drivers.values() if (name := driver.modules_map(at(each, "spec", {})))}


def _labels(state: State, key: str) -> dict[str, str] | None:
    return labels(state.nodes[key]) if key in state.nodes else None


def _owned_changes(before: State, after: State) -> set[str]:
    """Kinds of the owners of DaemonSets that were created, changed or deleted."""
    changed: set[str] = set()
    for key in before.daemonsets.keys() | after.daemonsets.keys():
        old, new = before.daemonsets.get(key), after.daemonsets.get(key)
        if old != new:
            references = at(new or old, "metadata.ownerReferences", [])
            changed |= {str(reference["kind"]) for reference in references}
    return changed


def reconcile(state: State, awake: Collection[Controller] = CONTROLLERS) -> Desired:
    """What the woken controllers write, in order.

    Args:
        state: The present cluster.
        awake: From `wakes`; all of them by default.
    """
    run = Run(state)
    if state.policy is None:
        run.controller = "driver"
        for key in sorted(state.drivers) if "driver" in awake else ():
            run.status("NVIDIADriver", key, status.error("ReconcileFailed", status.NO_POLICY))
        return Desired(tuple(run.steps))
    work = {"labels": _label, "driver": _drivers, "policy": _policy, "upgrade": upgrading.upgrade_drivers}
    for controller in CONTROLLERS:
        if controller in awake:
            run.controller = controller
            work[controller](run)
    return Desired(tuple(run.steps))


def _label(run: Run) -> None:
    """One labelling pass over all nodes, then owners, then the mark for the upgrade controller."""
    for key, changes in labelling_pass(run.found, run.spec, run.state.nodes).items():
        run.label(key, changes)
    _own(run)
    marked = upgrading.upgradable(run)
    for key, node in sorted(run.state.nodes.items()):
        if is_managed(labels(node)):
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


def _drivers(run: Run) -> None:
    for key in sorted(run.state.drivers):
        run.status("NVIDIADriver", key, _driver(run, key))


def _driver(run: Run, key: str) -> dict[str, Any]:
    """Reconciles one NVIDIADriver and returns its status."""
    state, found = run.state, run.found
    if not driver.crds_in_charge(run.spec):
        return status.error("Reconciled", status.CRD_OFF, status.DISABLED)
    try:
        driver.check(found, state.drivers, state.nodes, key)
        made = _driver_daemonsets(run, key)
    except DriverFault as fault:
        return status.error(fault.reason, str(fault))
    if all(status.is_driver_ready(run.state.daemonsets[each]) for each in made):
        return status.ready("Reconciled", status.DRIVER_RECONCILED)
    return status.error("DriverNotReady", status.DRIVER_WAITING)


def _driver_daemonsets(run: Run, key: str) -> set[str]:
    """Makes the DaemonSets of one NVIDIADriver, removes those no node needs any more, returns their names."""
    state, found = run.state, run.found
    given = state.drivers[key]
    wanted = driver.selected(given, state.nodes)
    if found.driver_owners:
        owned = {names.DRIVER_OWNER: key}
        wanted = driver.selected({"spec": {"nodeSelector": owned}}, state.nodes)
    prefix = "Error syncing state state-driver: failed to create k8s objects from manifests: "
    if not wanted and found.nodes_required:
        raise DriverFault("ReconcileFailed", f"{prefix}no nodes matching the given node selector for {key}")
    config = driver.modules_map(given["spec"])
    if config and ("ConfigMap", config) not in state.others:
        problem = f'could not get ConfigMap {config} from client: ConfigMap "{config}" not found'
        raise DriverFault("ReconcileFailed", f"{prefix}{problem}")
    made: set[str] = set()
    owner = ("NVIDIADriver", key, str(at(given, "metadata.uid", "")))
    if found.removes_idle_drivers:
        # Before the manifests are applied: one that is still wanted is deleted and created again and again.
        for idle in [old for old in _daemonsets_of(state, key) if status.is_idle(state.daemonsets[old])]:
            run.remove("DaemonSet", idle)
    for target in driver.systems(state.nodes, wanted, at(given, "spec.usePrecompiled", False) is True):
        account = driver.account(key, target)
        for item in supporting_objects.companions(found, run.spec, "driver", state.namespace, owner, account=account):
            run.ensure(item)
        modules = _data(state, config)
        daemonset = driver.daemonset(found, run.spec, given, state.namespace, target, modules=modules)
        run.ensure(daemonset)
        made.add(name(daemonset))
    for old in _daemonsets_of(state, key) if found.removes_idle_drivers else ():
        if old not in made:
            run.remove("DaemonSet", old)
    return made


def _daemonsets_of(state: State, key: str) -> list[str]:
    """Names of the DaemonSets that an NVIDIADriver owns."""
    return [made for made, item in sorted(state.daemonsets.items()) if owner_of(item, "NVIDIADriver") == key]


def _data(state: State, config_map: str) -> dict[str, str]:
    return dict(at(state.others.get(("ConfigMap", config_map), {}), "data", {}))


def _policy(run: Run) -> None:
    """RuntimeClasses, then one state after the other, then the status."""
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
    waiting = _policy_driver(run, has_gpus)
    for key in operands.ORDER:
        waiting += _operand(run, key, has_gpus)
    run.status("ClusterPolicy", name(state.policy or {}), _policy_status(run, has_gpus, waiting))
    for key, other in state.ignored.items() if not run.found.keeps_first_policy else ():
        # Older releases change the state in memory only.
        if at(other, "status.state") != status.NOT_READY:
            run.status("ClusterPolicy", key, {"state": status.IGNORED, "namespace": state.namespace})


def _policy_driver(run: Run, has_gpus: bool) -> list[str]:
    """The ClusterPolicy's own driver. Its image is for the system of the first GPU node of this pass."""
    state, spec, found = run.state, run.spec, run.found
    if driver.crds_in_charge(spec) or at(spec, "driver.enabled", True) is not True:
        run.remove("DaemonSet", driver.POLICY_DAEMONSET)
        if not driver.crds_in_charge(spec):
            run.remove_all(
                supporting_objects.companions(
                    found, spec, "driver", state.namespace, state.owner, account="nvidia-driver"
                )
            )
        return []
    for item in supporting_objects.companions(
        found, spec, "driver", state.namespace, state.owner, account="nvidia-driver"
    ):
        run.ensure(item)
    if not has_gpus:
        return []
    candidates = [key for key, node in sorted(state.nodes.items()) if is_managed(labels(node))]
    systems = [each for key in candidates if (each := driver.system(state.nodes[key])) is not None]
    if not systems:
        return ["state-driver"]
    target = systems[state.draw % len(systems)]
    modules = _data(state, driver.modules_map(at(spec, "driver", {})))
    run.ensure(driver.policy_daemonset(found, spec, state.namespace, state.owner, target, modules=modules))
    return [] if status.is_ready(found, run.state.daemonsets[driver.POLICY_DAEMONSET]) else ["state-driver"]


def _operand(run: Run, key: str, has_gpus: bool) -> list[str]:
    """Makes or removes one operand; returns its state's name when that is not ready."""
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
