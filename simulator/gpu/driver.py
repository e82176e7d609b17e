"""Drivers of nodes: the nodes that each NVIDIADriver owns, and the operating systems of those nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.cluster.objects import Changes, at, labels, matches
from simulator.gpu import names
from simulator.gpu.labels import is_managed
from simulator.gpu.release import Release

POLICY_DAEMONSET = "nvidia-driver-daemonset"
"""Name of the DaemonSet with which the ClusterPolicy itself installs the driver."""
COMPONENT = "app.kubernetes.io/component"
DRIVER_COMPONENT = "nvidia-driver"
CONFLICT = "ConflictingNodeSelector"

Objects = Mapping[str, Any]


class DriverFault(Exception):
    """Error for an NVIDIADriver that cannot be reconciled: `reason` and text of its Error condition."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class OperatingSystem:
    """Operating system that a driver image is built for."""

    id: str
    version: str
    kernel: str = ""
    """Kernel version, for drivers with precompiled modules; empty for other drivers, which fit any kernel."""

    @property
    def tag(self) -> str:
        """The operating system as in image tags and names: `ubuntu24.04`."""
        return f"{self.id}{self.version}"

    @property
    def selector(self) -> dict[str, str]:
        kernel = {names.KERNEL: self.kernel} if self.kernel else {}
        return {names.OS_ID: self.id, names.OS_VERSION: self.version, **kernel}


def is_driver(item: Mapping[str, Any]) -> bool:
    """True if `item` is a driver's DaemonSet or a driver's Pod."""
    return labels(item).get(COMPONENT) == DRIVER_COMPONENT


def system(node: Mapping[str, Any], precompiled: bool = False) -> OperatingSystem | None:
    """Operating system of the node, from NFD's labels; None until NFD has set these labels. `precompiled`: True to
    include the kernel.
    """
    given = labels(node)
    if not given.get(names.OS_ID) or not given.get(names.OS_VERSION):
        return None
    kernel = given.get(names.KERNEL, "") if precompiled else ""
    return OperatingSystem(given[names.OS_ID], given[names.OS_VERSION], kernel)


def crds_in_charge(spec: Mapping[str, Any]) -> bool:
    """True if NVIDIADrivers install the drivers; the ClusterPolicy's own driver DaemonSet is then deleted."""
    return at(spec, "driver.useNvidiaDriverCRD", False) is True


def is_default(driver: Mapping[str, Any]) -> bool:
    return at(driver, "spec.default", False) is True


def selected(driver: Mapping[str, Any], nodes: Objects) -> list[str]:
    """Names of the managed GPU nodes that the field `spec.nodeSelector` of the NVIDIADriver matches."""
    selector: Mapping[str, str] = at(driver, "spec.nodeSelector", {})
    return [key for key, node in sorted(nodes.items()) if is_managed(labels(node)) and matches(selector, labels(node))]


def check(found: Release, drivers: Objects, nodes: Objects, asking: str) -> None:
    """Checks that no two NVIDIADrivers claim the same node.

    `asking`: name of the NVIDIADriver that is being reconciled; empty for the ClusterPolicy. Any conflict raises the
    error, even if it does not involve `asking`. For the ClusterPolicy, only conflicts on GPU nodes count.

    Raises:
        DriverFault: Two specific NVIDIADrivers claim a node, there are two defaults, or a selector is not allowed.
    """
    specific = sorted(drivers)
    if found.driver_owners:
        specific = _specific(drivers)
    claims: dict[str, list[str]] = {}
    for key in specific:
        # A missing selector selects all GPU nodes, an empty one all nodes.
        selector: Mapping[str, str] | None = at(drivers[key], "spec.nodeSelector")
        wanted = {names.PRESENT: "true"} if selector is None else selector
        for node, item in sorted(nodes.items()):
            if matches(wanted, labels(item)) and (asking or is_managed(labels(item))):
                claims.setdefault(node, []).append(key)
    for node, claimants in sorted(claims.items()):
        if len(claimants) < 2:
            continue
        if found.driver_owners:
            named = claimants[:2] if asking else claimants
            text = f"multiple NVIDIADrivers match the same node {node}: [{' '.join(named)}]"
        else:
            own: Mapping[str, str] = at(drivers.get(asking, {}), "spec.nodeSelector") or {}
            quoted = " ".join(f'"{label}":"{value}"' for label, value in sorted(own.items()))
            text = f"conflicting NVIDIADriver NodeSelectors found for resource: {asking}, nodeSelector: map[{quoted}]"
        raise DriverFault(CONFLICT, text)


def _specific(drivers: Objects) -> list[str]:
    """Names of the NVIDIADrivers that are not the default.

    Raises:
        DriverFault: There are two defaults, a default selects nodes, or a selector uses the reserved owner label.
    """
    defaults = [key for key, driver in sorted(drivers.items()) if is_default(driver)]
    for key, driver in sorted(drivers.items()):
        selector: Mapping[str, str] = at(driver, "spec.nodeSelector") or {}
        if selector and key in defaults:
            raise DriverFault(CONFLICT, f'default NVIDIADriver "{key}" cannot use nodeSelector')
        if names.DRIVER_OWNER in selector:
            text = f'NVIDIADriver "{key}" nodeSelector cannot use reserved label "{names.DRIVER_OWNER}"'
            raise DriverFault(CONFLICT, text)
    if len(defaults) > 1:
        raise DriverFault("ReconcileFailed", f"multiple default NVIDIADrivers found: [{' '.join(defaults)}]")
    return sorted(drivers.keys() - set(defaults))


def owners(drivers: Objects, nodes: Objects) -> dict[str, str]:
    """Name of the NVIDIADriver that selects each GPU node; nodes that none selects are left out. A specific
    NVIDIADriver takes precedence over the default.
    """
    result: dict[str, str] = {}
    for key, driver in sorted(drivers.items(), key=lambda entry: not is_default(entry[1])):
        result |= dict.fromkeys(selected(driver, nodes), key)
    return result


def owner_labels(drivers: Objects, nodes: Objects) -> dict[str, Changes]:
    """Changes of the label that names a node's NVIDIADriver, for the GPU nodes on which the label is wrong."""
    wanted = owners(drivers, nodes)
    changes: dict[str, Changes] = {}
    for key, node in sorted(nodes.items()):
        given = labels(node)
        if is_managed(given) and given.get(names.DRIVER_OWNER) != wanted.get(key):
            changes[key] = {names.DRIVER_OWNER: wanted.get(key)}
    return changes


def systems(nodes: Objects, wanted: Sequence[str], precompiled: bool) -> list[OperatingSystem]:
    """The operating systems of some nodes, each once, sorted. Nodes without NFD's labels are skipped."""
    known = {found for key in wanted if (found := system(nodes[key], precompiled)) is not None}
    return sorted(known, key=lambda target: (target.tag, target.kernel))
