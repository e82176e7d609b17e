"""The controller of NVIDIADrivers and of the ClusterPolicy's own driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, annotations_of, at, labels, name
from simulator.cluster.objects import owner as owner_of
from simulator.gpu import driver, driver_daemonsets, names, status, supporting_objects
from simulator.gpu.driver import DriverFault, OperatingSystem
from simulator.gpu.driver_daemonsets import MANAGER, SYNC, manager_image
from simulator.gpu.driver_files import NO_FILES, DriverFiles, MissingFiles, files_of
from simulator.gpu.labels import is_managed
from simulator.gpu.run import Run
from simulator.gpu.state import State


def reconcile(run: Run) -> None:
    """Reconciles every NVIDIADriver."""
    for key in sorted(run.state.drivers):
        run.status("NVIDIADriver", key, _driver(run, key))


def _driver(run: Run, key: str) -> dict[str, Any]:
    """Reconciles one NVIDIADriver and returns its status."""
    state, found = run.state, run.found
    if state.policy is None and found.policy_required:
        return status.error("ReconcileFailed", status.NO_POLICY)
    if state.policy is not None and not driver.crds_in_charge(run.spec):
        return status.error("Reconciled", status.CRD_OFF, status.DISABLED)
    try:
        driver.check(found, state.drivers, state.nodes, key)
        made = _daemonsets(run, key)
    except DriverFault as fault:
        return status.error(fault.reason, str(fault))
    if all(status.is_driver_ready(run.state.daemonsets[each]) for each in made):
        return status.ready("Reconciled", status.DRIVER_RECONCILED)
    return status.error("DriverNotReady", status.DRIVER_WAITING)


def _daemonsets(run: Run, key: str) -> set[str]:
    """Creates the DaemonSets of one NVIDIADriver and removes its DaemonSets that no node needs any more; returns the
    names of the needed DaemonSets.
    """
    state, found = run.state, run.found
    given = state.drivers[key]
    wanted = driver.selected(given, state.nodes)
    if found.driver_owners:
        wanted = [node for node in wanted if labels(state.nodes[node]).get(names.DRIVER_OWNER) == key]
    if not wanted and found.nodes_required:
        raise DriverFault("ReconcileFailed", f"{SYNC}no nodes matching the given node selector for {key}")
    made: set[str] = set()
    owner = ("NVIDIADriver", key, str(at(given, "metadata.uid", "")))
    if found.removes_idle_drivers:
        # The deletion comes before the manifests are applied, as in the operator: a DaemonSet that is still wanted is
        # deleted and created again and again.
        for idle in [old for old in _made_by(state, key) if status.is_idle(state.daemonsets[old], state.nodes)]:
            run.remove("DaemonSet", idle)
    for target in driver.systems(state.nodes, wanted, at(given, "spec.usePrecompiled", False) is True):
        account = driver_daemonsets.account(key, target)
        for item in supporting_objects.companions(found, run.spec, "driver", state.namespace, owner, account=account):
            run.ensure(item)
        daemonset = _rendered(run, given, target)
        run.ensure(daemonset)
        made.add(name(daemonset))
    for old in _made_by(state, key) if found.removes_idle_drivers else ():
        if old not in made:
            run.remove("DaemonSet", old)
    return made


def _rendered(run: Run, given: Json, target: OperatingSystem) -> Json:
    """The DaemonSet of an NVIDIADriver for one operating system.

    If a new release of the operator changes only its default image of the driver manager, the DaemonSet keeps the old
    image, so that no driver is replaced (NVIDIA/gpu-operator, `handleDefaultImagesInObjects` in
    internal/state/driver.go).
    """
    default = run.state.manager_image or run.found.images["driver.manager"]
    wanted = _daemonset(run, given, target, default)
    if manager_image(given["spec"]):
        return wanted
    present = run.state.daemonsets.get(name(wanted))
    used = _manager_of(present)
    if present is None or used in ("", default):
        return wanted
    unchanged = _daemonset(run, given, target, used)
    return unchanged if _hash(unchanged) == _hash(present) else wanted


def _daemonset(run: Run, given: Json, target: OperatingSystem, manager: str) -> Json:
    return driver_daemonsets.daemonset(
        run.found,
        given,
        run.state.namespace,
        target,
        files=_mounted(run.state, given["spec"]),
        manager=manager,
        host_root=str(at(run.spec, "hostPaths.rootFS", "")) or "/",
    )


def _mounted(state: State, spec: Mapping[str, Any]) -> DriverFiles:
    """Files that an NVIDIADriver mounts from ConfigMaps.

    If any of these ConfigMaps is missing, the operator logs an error and mounts no files at all (`getManifestObjects`
    in internal/state/driver.go).
    """
    try:
        return files_of(spec, state.config_maps)
    except MissingFiles:
        return NO_FILES


def _manager_of(daemonset: Json | None) -> str:
    containers: list[Json] = at(daemonset, "spec.template.spec.initContainers", [])
    return next((str(each.get("image")) for each in containers if each.get("name") == MANAGER), "")


def _hash(daemonset: Json) -> str | None:
    return annotations_of(daemonset).get(names.LAST_APPLIED)


def _made_by(state: State, key: str) -> list[str]:
    """Names of the DaemonSets that an NVIDIADriver owns."""
    return [made for made, item in sorted(state.daemonsets.items()) if owner_of(item, "NVIDIADriver") == key]


def policy_driver(run: Run, has_gpus: bool) -> list[str]:
    """Reconciles the driver DaemonSet that the ClusterPolicy itself owns; returns `["state-driver"]` if the driver is
    not ready, else an empty list.

    The driver image is the image for the operating system of the first GPU node.

    Raises:
        MissingFiles: A ConfigMap that the ClusterPolicy names does not exist.
    """
    state, spec, found = run.state, run.spec, run.found
    own = supporting_objects.companions(found, spec, "driver", state.namespace, state.owner, account="nvidia-driver")
    if driver.crds_in_charge(spec) or at(spec, "driver.enabled", True) is not True:
        run.remove("DaemonSet", driver.POLICY_DAEMONSET)
        if not driver.crds_in_charge(spec):
            run.remove_all(own)
        return []
    for item in own:
        run.ensure(item)
    if not has_gpus:
        return []
    candidates = [key for key, node in sorted(state.nodes.items()) if is_managed(labels(node))]
    systems = [each for key in candidates if (each := driver.system(state.nodes[key])) is not None]
    if not systems:
        return ["state-driver"]
    target = systems[state.draw % len(systems)]
    files = files_of(at(spec, "driver", {}), state.config_maps)
    run.ensure(driver_daemonsets.policy_daemonset(found, spec, state.namespace, state.owner, target, files=files))
    return [] if status.is_ready(found, run.state.daemonsets[driver.POLICY_DAEMONSET]) else ["state-driver"]
