"""Driver DaemonSets: of NVIDIADrivers, one for each OS of the nodes they own, or of the ClusterPolicy, one for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.simulator.cluster.objects import Changes, Json, at, digest, labels, matches, name
from physical_ai.simulator.gpu import names, operands, pods
from physical_ai.simulator.gpu.labels import is_managed
from physical_ai.simulator.gpu.release import Release, operand

POLICY_DAEMONSET = "nvidia-driver-daemonset"
COMPONENT = "app.kubernetes.io/component"
DRIVER_COMPONENT = "nvidia-driver"
CONFLICT = "ConflictingNodeSelector"

Objects = Mapping[str, Any]


class DriverFault(Exception):
    """An NVIDIADriver that cannot be reconciled: `reason` of its Error condition, and the text."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class OperatingSystem:
    """What a driver image is built for."""

    id: str
    version: str
    kernel: str = ""
    """Only where precompiled modules are wanted: they fit one kernel."""

    @property
    def tag(self) -> str:
        """`ubuntu24.04`, as in image tags and names."""
        return f"{self.id}{self.version}"

    @property
    def selector(self) -> dict[str, str]:
        kernel = {names.KERNEL: self.kernel} if self.kernel else {}
        return {names.OS_ID: self.id, names.OS_VERSION: self.version, **kernel}


def is_driver(item: Mapping[str, Any]) -> bool:
    """Whether a DaemonSet or a pod is one of a driver."""
    return labels(item).get(COMPONENT) == DRIVER_COMPONENT


def system(node: Mapping[str, Any], precompiled: bool = False) -> OperatingSystem | None:
    """The node's system by NFD's labels; None before they exist."""
    given = labels(node)
    if not given.get(names.OS_ID) or not given.get(names.OS_VERSION):
        return None
    kernel = given.get(names.KERNEL, "") if precompiled else ""
    return OperatingSystem(given[names.OS_ID], given[names.OS_VERSION], kernel)


def crds_in_charge(spec: Mapping[str, Any]) -> bool:
    """NVIDIADrivers install drivers; the ClusterPolicy's own driver DaemonSet is deleted."""
    return at(spec, "driver.useNvidiaDriverCRD", False) is True


def is_default(driver: Mapping[str, Any]) -> bool:
    return at(driver, "spec.default", False) is True


def selected(driver: Mapping[str, Any], nodes: Objects) -> list[str]:
    """GPU nodes that the NVIDIADriver's own selector fits."""
    selector: Mapping[str, str] = at(driver, "spec.nodeSelector", {})
    return [key for key, node in sorted(nodes.items()) if is_managed(labels(node)) and matches(selector, labels(node))]


def check(found: Release, drivers: Objects, nodes: Objects, asking: str) -> None:
    """Refuses NVIDIADrivers that claim the same node.

    An NVIDIADriver conflicts on any node that the selectors fit, whichever two of them: all get the fault. The
    ClusterPolicy (`asking` is empty) only reports GPU nodes.

    Raises:
        DriverFault: Two specific ones claim a node, there are two defaults, or a selector is not allowed.
    """
    specific = sorted(drivers)
    if found.driver_owners:
        specific = _specific(drivers)
    claims: dict[str, list[str]] = {}
    for key in specific:
        # Without a selector, and unlike with an empty one, all GPU nodes.
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
    """NVIDIADrivers that are no default. There is one default at most, and it selects no nodes itself."""
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
    """The NVIDIADriver of each GPU node that has one. A specific one wins over the default."""
    result: dict[str, str] = {}
    for key, driver in sorted(drivers.items(), key=lambda entry: not is_default(entry[1])):
        result |= dict.fromkeys(selected(driver, nodes), key)
    return result


def owner_labels(drivers: Objects, nodes: Objects) -> dict[str, Changes]:
    """Label changes on GPU nodes so that each names its NVIDIADriver. Other nodes keep their labels."""
    wanted = owners(drivers, nodes)
    changes: dict[str, Changes] = {}
    for key, node in sorted(nodes.items()):
        given = labels(node)
        if is_managed(given) and given.get(names.DRIVER_OWNER) != wanted.get(key):
            changes[key] = {names.DRIVER_OWNER: wanted.get(key)}
    return changes


def image(spec: Mapping[str, Any], default: str, target: OperatingSystem) -> str:
    """The driver image for a system; a version that is a digest already names one image."""
    path, _, tag = default.rpartition(":")
    repository, _, short = path.rpartition("/")
    prefix = str(spec.get("repository") or ("" if "/" in str(spec.get("image", "")) else repository))
    where = f"{prefix}/{spec.get('image') or short}" if prefix else str(spec["image"])
    version = str(spec.get("version") or tag)
    if version.startswith("sha256:"):
        return f"{where}@{version}"
    kernel = f"-{target.kernel}" if target.kernel else ""
    return f"{where}:{version}{kernel}-{target.tag}"


def modules_map(spec: Mapping[str, Any]) -> str:
    """The ConfigMap with parameters of kernel modules that a driver's `spec` names; empty without one."""
    return str(at(spec, "kernelModuleConfig.name", "") or "")


def _settings(given: pods.Draft, spec: Mapping[str, Any], found: Release, modules: Mapping[str, str]) -> None:
    """What both kinds of driver DaemonSet read alike from their `spec`."""
    env = given.env(given.main)
    kind = str(spec.get("kernelModuleType") or "auto")
    env["KERNEL_MODULE_TYPE"] = kind
    if kind == "open":
        env["OPEN_KERNEL_MODULES_ENABLED"] = "true"
    operands.add_env(given, given.main, spec.get("env"))
    operands.add_env(given, "k8s-driver-manager", at(spec, "manager.env"))
    if config := modules_map(spec):
        given.volumes[config] = {"configMap": config, "items": {key: key for key in sorted(modules)}}
    if at(spec, "rdma.enabled", False) is True:
        _rdma(given, found, host=at(spec, "rdma.useHostMofed", False) is True)
    probe: Mapping[str, Any] = spec.get("startupProbe") or {}
    given.containers[given.main]["startupProbe"] |= probe
    given.pod["affinity"] = _alone(given)
    if found.digest:
        content = [dict(modules)] if modules else []
        value = str(int(digest([env, given.volumes, given.containers[given.main]["image"], *content], 8), 16))
        env["DRIVER_CONFIG_DIGEST"] = given.env("k8s-driver-manager")["DRIVER_CONFIG_DIGEST"] = value


def _rdma(given: pods.Draft, found: Release, *, host: bool) -> None:
    """GPUDirect RDMA: the driver waits for the one of the network cards, and nvidia-peermem is loaded beside it
    (NVIDIA GPU Operator docs, gpu-operator-rdma)."""
    env = {"WITH_WAIT": "true", "COMPONENT": "mofed", "GPU_DIRECT_RDMA_ENABLED": "true"}
    if host:
        env["USE_HOST_MOFED"] = "true"
    node = {"NODE_NAME": {"fieldRef": "spec.nodeName"}}
    given.init["mofed-validation"] = {
        "image": found.images["validator"],
        "command": ["sh", "-c"],
        "args": ["nvidia-validator"],
        "env": {**env, **node},
        "privileged": True,
    }
    given.containers["nvidia-peermem-ctr"] = {
        "image": given.containers[given.main]["image"],
        "command": ["nvidia-driver"],
        "args": ["reload_nvidia_peermem"],
        "env": {"NVIDIA_VISIBLE_DEVICES": "void"},
        "privileged": True,
    }
    given.env(given.main)["GPU_DIRECT_RDMA_ENABLED"] = "true"


def _alone(given: pods.Draft) -> Json:
    """Two drivers never share a node."""
    also = ["nvidia-vgpu-manager"] if given.owner[0] == "NVIDIADriver" else []
    rule = {"key": COMPONENT, "operator": "In", "values": [DRIVER_COMPONENT, *also]}
    term = {"labelSelector": {"matchExpressions": [rule]}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _draft(
    found: Release, spec: Mapping[str, Any], own: str, namespace: str, owner: tuple[str, str, str]
) -> pods.Draft:
    resolved = operands.images(found, spec)
    given = pods.draft(operand(found.version, "driver"), own, namespace, owner, image=resolved)
    given.update_strategy = {"type": "OnDelete"}
    given.pod_annotations["kubectl.kubernetes.io/default-container"] = given.main
    return given


def policy_daemonset(
    found: Release,
    spec: Mapping[str, Any],
    namespace: str,
    owner: tuple[str, str, str],
    target: OperatingSystem,
    *,
    modules: Mapping[str, str],
) -> Json:
    """The ClusterPolicy's driver DaemonSet: one image for every GPU node, of whatever system (gpu-operator#1622).

    `modules` is the content of its `modules_map`.
    """
    given = _draft(found, spec, POLICY_DAEMONSET, namespace, owner)
    operands.common(given, spec)
    given.update_strategy = {"type": "OnDelete"}
    driver: Mapping[str, Any] = at(spec, "driver", {})
    precompiled = "true" if driver.get("usePrecompiled") else "false"
    given.labels |= {COMPONENT: DRIVER_COMPONENT, "nvidia.com/precompiled": precompiled}
    given.pod_labels |= {COMPONENT: DRIVER_COMPONENT, "nvidia.com/precompiled": precompiled}
    given.node_selector = {names.DEPLOY_DRIVER: "true"}
    given.service_account = "nvidia-driver"
    given.containers[given.main]["image"] = image(driver, found.images["driver"], target)
    _settings(given, driver, found, modules)
    return pods.build(given, names.LAST_APPLIED)


def account(driver: str, target: OperatingSystem) -> str:
    """The service account of an NVIDIADriver's pods on one system."""
    return f"nvidia-gpu-driver-{driver}-{target.tag}"


def daemonset(
    found: Release,
    policy: Mapping[str, Any],
    driver: Mapping[str, Any],
    namespace: str,
    target: OperatingSystem,
    *,
    modules: Mapping[str, str],
) -> Json:
    """An NVIDIADriver's DaemonSet for one system. It inherits nothing from the ClusterPolicy but the manager image.

    `modules` is the content of its `modules_map`.
    """
    spec: Mapping[str, Any] = driver["spec"]
    owner = ("NVIDIADriver", name(driver), str(at(driver, "metadata.uid", "")))
    own = f"nvidia-gpu-driver-{target.tag}-{digest([*owner, target.kernel])}"
    given = _draft(found, {"driver": {"manager": at(policy, "driver.manager", {})}}, own, namespace, owner)
    precompiled = {"nvidia.com/precompiled": "true" if spec.get("usePrecompiled") else "false"}
    marks = {COMPONENT: DRIVER_COMPONENT, "nvidia.com/node.os-version": target.tag, **precompiled}
    given.pod_labels = {**spec.get("labels", {}), **marks}
    given.labels = {**given.pod_labels, "nvidia.com/gpu-operator.state": "state-driver"}
    given.pod_annotations |= spec.get("annotations", {})
    owned = {names.DRIVER_OWNER: name(driver)} if found.driver_owners else {}
    wanted = {names.DEPLOY_DRIVER: "true", names.PRESENT: "true", **owned, **target.selector}
    given.node_selector = {**spec.get("nodeSelector", {}), **wanted}
    given.tolerations = [operands.GPU_TOLERATION, *spec.get("tolerations", [])]
    given.pod["priorityClassName"] = str(spec.get("priorityClassName") or "system-node-critical")
    given.service_account = account(name(driver), target)
    given.containers[given.main]["image"] = image(spec, found.images["driver"], target)
    given.env(given.main)["NVIDIA_VISIBLE_DEVICES"] = "void"
    _settings(given, spec, found, modules)
    return pods.build(given, names.LAST_APPLIED)


def systems(nodes: Objects, wanted: Sequence[str], precompiled: bool) -> list[OperatingSystem]:
    """The systems of some nodes, each once, sorted. Nodes that NFD has not described yet count for none."""
    known = {found for key in wanted if (found := system(nodes[key], precompiled)) is not None}
    return sorted(known, key=lambda target: (target.tag, target.kernel))
