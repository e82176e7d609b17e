"""Driver DaemonSets: an NVIDIADriver has one for each operating system of its nodes, the ClusterPolicy has one for all.

Source: NVIDIA/gpu-operator v26.7.0, `manifests/state-driver/0500_daemonset.yaml`, `internal/state/driver.go` and
`driver_volumes.go` for NVIDIADrivers; `assets/state-driver` and `controllers/object_controls.go` for the ClusterPolicy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, at, digest, name
from simulator.gpu import names, operands, pods
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT, POLICY_DAEMONSET, DriverFault, OperatingSystem
from simulator.gpu.driver_digest import CONFIG_DIGEST, of_driver, of_policy
from simulator.gpu.driver_files import DriverFiles, mount
from simulator.gpu.operand_settings import add_env
from simulator.gpu.release import Release, operand

SIDECARS = {
    "gds": ("nvidia-fs-ctr", "GDS_ENABLED", "nvidia_fs"),
    "gdrcopy": ("nvidia-gdrcopy-ctr", "GDRCOPY_ENABLED", "gdrdrv"),
}
"""Sidecars of the driver Pod. Key: the field of the driver's spec that turns the sidecar on. Value: container,
environment variable of the driver container, and kernel module.
"""
SYNC = "Error syncing state state-driver: failed to create k8s objects from manifests: "
MANAGER, PEERMEM = "k8s-driver-manager", "nvidia-peermem-ctr"


def image(spec: Mapping[str, Any], default: str, target: OperatingSystem) -> str:
    """The driver image for an operating system. A version that is a digest gets no suffix for the operating system."""
    path, _, tag = default.rpartition(":")
    repository, _, short = path.rpartition("/")
    prefix = str(spec.get("repository") or ("" if "/" in str(spec.get("image", "")) else repository))
    where = f"{prefix}/{spec.get('image') or short}" if prefix else str(spec["image"])
    version = str(spec.get("version") or tag)
    if version.startswith("sha256:"):
        return f"{where}@{version}"
    kernel = f"-{target.kernel}" if target.kernel else ""
    return f"{where}:{version}{kernel}-{target.tag}"


def _settings(given: pods.Draft, spec: Mapping[str, Any], files: DriverFiles) -> None:
    """Applies the settings that an NVIDIADriver and the ClusterPolicy's section `driver` have in common."""
    env = given.env(given.main)
    kind = str(spec.get("kernelModuleType") or "auto")
    env["KERNEL_MODULE_TYPE"] = kind
    if kind == "open":
        env["OPEN_KERNEL_MODULES_ENABLED"] = "true"
    add_env(given, given.main, spec.get("env"))
    if at(spec, "rdma.enabled", False) is True:
        _rdma(given, host=at(spec, "rdma.useHostMofed", False) is True)
    add_env(given, MANAGER, at(spec, "manager.env"))
    mount(given, files)
    probe: Mapping[str, Any] = spec.get("startupProbe") or {}
    given.containers[given.main]["startupProbe"] |= probe
    if spec.get("hostNetwork") is True:
        given.pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    if secret := spec.get("secretEnv"):
        given.containers[given.main]["envFrom"] = [{"secretRef": {"name": secret}}]
    _pulls(given, spec)
    given.pod["affinity"] = _alone(given)


def _pulls(given: pods.Draft, spec: Mapping[str, Any]) -> None:
    """Applies the settings for pulling images and the containers' resources."""
    for container in (given.main, PEERMEM):
        if container in given.containers and spec.get("imagePullPolicy"):
            given.containers[container]["imagePullPolicy"] = str(spec["imagePullPolicy"])
    if policy := at(spec, "manager.imagePullPolicy"):
        given.init[MANAGER]["imagePullPolicy"] = str(policy)
    given.pull_secrets(spec.get("imagePullSecrets"))
    given.pull_secrets(at(spec, "manager.imagePullSecrets"))
    if resources := spec.get("resources"):
        for container in (given.init[MANAGER], *given.containers.values()):
            container["resources"] = resources


def _rdma(given: pods.Draft, *, host: bool) -> None:
    """Applies the settings for GPUDirect RDMA: the driver manager waits for the network cards' driver, and a sidecar
    loads nvidia-peermem.
    """
    own = {"USE_HOST_MOFED": "true"} if host else {}
    enabled = {"GPU_DIRECT_RDMA_ENABLED": "true", **own}
    probe = {"exec": {"command": ["sh", "-c", "nvidia-driver probe_nvidia_peermem"]}, "timeoutSeconds": 10}
    given.containers[PEERMEM] = {
        "image": given.containers[given.main]["image"],
        "command": ["nvidia-driver"],
        "args": ["reload_nvidia_peermem"],
        "env": {"NVIDIA_VISIBLE_DEVICES": "void", **own},
        "privileged": True,
        "startupProbe": {**probe, "initialDelaySeconds": 10, "periodSeconds": 10, "failureThreshold": 120},
        "livenessProbe": {**probe, "initialDelaySeconds": 30, "periodSeconds": 30, "failureThreshold": 1},
    }
    if host:
        given.volumes["mlnx-ofed-usr-src"]["hostPath"] = "/usr/src"
    given.env(given.main).update(enabled)
    given.env(MANAGER).update(enabled)


def _sidecars(given: pods.Draft, spec: Mapping[str, Any], target: OperatingSystem) -> None:
    """Adds the sidecars that build the kernel modules of GPUDirect Storage and GDRCopy once the driver is loaded."""
    for field, (container, variable, module) in SIDECARS.items():
        wanted: Mapping[str, Any] = at(spec, field, {})
        if wanted.get("enabled") is not True:
            continue
        given.env(given.main)[variable] = "true"
        given.containers[container] = {
            "image": _sidecar_image(field, wanted, target),
            "command": ["bash", "-xc"],
            "env": {},
            "privileged": True,
            "startupProbe": {
                "exec": {"command": ["sh", "-c", f"lsmod | grep {module}"]},
                "initialDelaySeconds": 10,
                "periodSeconds": 10,
                "failureThreshold": 120,
                "timeoutSeconds": 10,
            },
        }
        add_env(given, container, wanted.get("env"))
        given.pull_secrets(wanted.get("imagePullSecrets"))
        # For an NVIDIADriver, the operator's manifest fixes the pull policy of the container for GPUDirect Storage.
        if wanted.get("imagePullPolicy") and (field, given.owner[0]) != ("gds", "NVIDIADriver"):
            given.containers[container]["imagePullPolicy"] = str(wanted["imagePullPolicy"])


def _sidecar_image(field: str, wanted: Mapping[str, Any], target: OperatingSystem) -> str:
    parts = {key: str(wanted.get(key) or "") for key in ("repository", "image", "version")}
    if not all(parts.values()):
        named = ", ".join(f"{key}={value}" for key, value in parts.items())
        kind = "GDS" if field == "gds" else "GDRCopy"
        problem = f"invalid image specification: repository, image and version must all be set ({named})"
        raise DriverFault(
            "ReconcileFailed", f"{SYNC}failed to construct {kind} spec: failed to get image path from crd: {problem}"
        )
    return image(wanted, "", target)


def _alone(given: pods.Draft) -> Json:
    """Anti-affinity to the Pods of all other drivers, because two drivers never run on the same node."""
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


def _set_digest(given: pods.Draft, found: Release, installed: Json) -> None:
    """Sets the variable DRIVER_CONFIG_DIGEST, which is not itself part of the digest."""
    if found.digest:
        value = str(int(digest(installed, 8), 16))
        given.env(given.main)[CONFIG_DIGEST] = given.env(MANAGER)[CONFIG_DIGEST] = value


def policy_daemonset(
    found: Release,
    spec: Mapping[str, Any],
    namespace: str,
    owner: tuple[str, str, str],
    target: OperatingSystem,
    *,
    files: DriverFiles,
) -> Json:
    """The ClusterPolicy's driver DaemonSet.

    It uses one image on every GPU node, whatever the node's operating system (gpu-operator#1622).
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
    _sidecars(given, {field: at(spec, field, {}) for field in SIDECARS}, target)
    if args := driver.get("args"):
        given.containers[given.main]["args"] = list(args)
    _settings(given, driver, files)
    _set_digest(given, found, of_policy(given, files))
    return pods.build(given, names.LAST_APPLIED)


def account(driver: str, target: OperatingSystem) -> str:
    """The service account of an NVIDIADriver's Pods on one operating system."""
    return f"nvidia-gpu-driver-{driver}-{target.tag}"


def daemonset(
    found: Release,
    driver: Mapping[str, Any],
    namespace: str,
    target: OperatingSystem,
    *,
    files: DriverFiles,
    manager: str,
    host_root: str = "",
) -> Json:
    """An NVIDIADriver's DaemonSet for one operating system. From the ClusterPolicy it takes only the host's root path.

    Args:
        manager: Image of the driver manager, used if the NVIDIADriver names none.
    """
    spec: Mapping[str, Any] = driver["spec"]
    owner = ("NVIDIADriver", name(driver), str(at(driver, "metadata.uid", "")))
    own = f"nvidia-gpu-driver-{target.tag}-{digest([*owner, target.kernel])}"
    given = _draft(found, {}, own, namespace, owner)
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
    if context := spec.get("podSecurityContext"):
        given.pod["securityContext"] = context
    given.service_account = account(name(driver), target)
    given.init[MANAGER]["image"] = manager_image(spec) or manager
    main = given.containers[given.main]
    main["image"] = image(spec, found.images["driver"], target)
    main["args"] = [*main["args"], *(spec.get("args") or ())]
    given.env(given.main)["NVIDIA_VISIBLE_DEVICES"] = "void"
    _sidecars(given, spec, target)
    _settings(given, spec, files)
    _set_digest(given, found, of_driver(given, spec, target, files, host_root))
    return pods.build(given, names.LAST_APPLIED)


def manager_image(spec: Mapping[str, Any]) -> str:
    """Image of the driver manager in an NVIDIADriver: its `image`, or `repository`, `image` and `version` joined; empty
    if the NVIDIADriver sets none of them.
    """
    given: Mapping[str, Any] = at(spec, "manager", {})
    repository, image, version = (str(given.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        return image
    return f"{repository}/{image}{'@' if version.startswith('sha256:') else ':'}{version}"
