"""Operands of a ClusterPolicy: the DaemonSets that exist, and the settings that change all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.names import GPU
from simulator.cluster.objects import Json, at
from simulator.gpu import names, pods
from simulator.gpu.operand_settings import TRANSFORMS, add_env, nri, runtime_class
from simulator.gpu.pods import Draft
from simulator.gpu.release import Release, operand

GPU_TOLERATION: Json = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}

ORDER = (
    "nvidia-container-toolkit-daemonset",
    "nvidia-operator-validator",
    "nvidia-device-plugin-daemonset",
    "nvidia-device-plugin-mps-control-daemon",
    "nvidia-dcgm",
    "nvidia-dcgm-exporter",
    "gpu-feature-discovery",
    "nvidia-mig-manager",
    "nvidia-node-status-exporter",
    "nvidia-vgpu-device-manager",
    "nvidia-sandbox-validator",
    "nvidia-vfio-manager",
    "nvidia-sandbox-device-plugin-daemonset",
)
"""Operands in the order of the operator's states; the ClusterPolicy's own driver is first."""

OFF_BY_DEFAULT = ("dcgm", "nodeStatusExporter")
SETTABLE = (
    "toolkit",
    "validator",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "migManager",
    "nodeStatusExporter",
)
"""Components of a ClusterPolicy whose settings for image pulls, resources and network the operator applies to their
operands. Components for virtual machines are left out.
"""
WITHOUT_ARGS = ("nvidia-container-toolkit-daemonset", "nvidia-device-plugin-mps-control-daemon")
OWN_ENV = (
    "nvidia-container-toolkit-daemonset",
    "nvidia-operator-validator",
    "nvidia-device-plugin-mps-control-daemon",
)
"""Operands with their own rule for environment variables. For all other operands, the operator copies the field `env`
of their component in the ClusterPolicy.
"""
DRIVER_ROOT = "/run/nvidia/driver"


def is_enabled(description: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """True if this ClusterPolicy deploys the operand at all, on any node."""
    component = str(description["component"])
    if description.get("sandbox") and at(spec, "sandboxWorkloads.enabled", False) is not True:
        return False
    return component == "validator" or at(spec, f"{component}.enabled", component not in OFF_BY_DEFAULT) is True


def images(found: Release, spec: Mapping[str, Any]) -> dict[str, str]:
    """Image of each component. The ClusterPolicy may leave out parts of an image; each missing part comes from the
    release's default.
    """
    result: dict[str, str] = {}
    for component, default in found.images.items():
        path, _, tag = default.rpartition(":")
        repository, _, image = path.rpartition("/")
        given: Mapping[str, Any] = at(spec, component, {})
        version = str(given.get("version") or tag)
        joint = "@" if version.startswith("sha256:") else ":"
        result[component] = f"{given.get('repository') or repository}/{given.get('image') or image}{joint}{version}"
    return result


def update_strategy(spec: Mapping[str, Any]) -> Json:
    if at(spec, "daemonsets.updateStrategy", "RollingUpdate") == "OnDelete":
        return {"type": "OnDelete"}
    most = str(at(spec, "daemonsets.rollingUpdate.maxUnavailable", "1"))
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": int(most) if most.isdigit() else most},
    }


def common(given: Draft, spec: Mapping[str, Any]) -> None:
    """Applies the section `daemonsets` of the ClusterPolicy to an operand. Tolerations in that section replace the
    operand's built-in toleration.
    """
    given.labels = dict(at(spec, "daemonsets.labels", {}))
    given.pod_labels = dict(given.labels)
    given.pod_annotations |= at(spec, "daemonsets.annotations", {})
    given.tolerations = list(at(spec, "daemonsets.tolerations", [GPU_TOLERATION]))
    given.update_strategy = update_strategy(spec)
    given.pod["priorityClassName"] = str(at(spec, "daemonsets.priorityClassName", "system-node-critical"))


def _gpu_access(given: Draft, spec: Mapping[str, Any]) -> None:
    """Gives an operand's containers access to GPUs. In NRI mode, an annotation of the Pod injects all GPUs into one
    container. In all other modes, the Pod's runtime class gives access.
    """
    if not nri(spec):
        given.pod["runtimeClassName"] = runtime_class(spec)
        return
    container = "toolkit-validation" if "cuda-validation" in given.init else given.main
    given.pod_annotations[f"nvidia.cdi.k8s.io/container.{container}"] = "management.nvidia.com/gpu=all"


def _driver_root(given: Draft, spec: Mapping[str, Any]) -> None:
    folder = str(at(spec, "hostPaths.driverInstallDir", DRIVER_ROOT))
    if folder == DRIVER_ROOT:
        return
    if "driver-install-dir" in given.volumes:
        given.volumes["driver-install-dir"]["hostPath"] = folder
    if "driver-validation" in given.init:
        given.env("driver-validation").update(DRIVER_INSTALL_DIR=folder, DRIVER_INSTALL_DIR_CTR_PATH=folder)


def _containers(given: Draft, name: str, section: Mapping[str, Any]) -> None:
    """Applies the settings in a component's section of the ClusterPolicy: arguments, image pulls, resources and
    network.

    Source: NVIDIA/gpu-operator v26.7.0, the operands' `Transform` functions in controllers/object_controls.go. Operands
    in WITHOUT_ARGS, such as the MPS daemon, ignore the component's arguments.
    """
    if section.get("args") and name not in WITHOUT_ARGS:
        given.containers[given.main]["args"] = list(section["args"])
    if section.get("imagePullPolicy"):
        given.containers[given.main]["imagePullPolicy"] = str(section["imagePullPolicy"])
    given.pull_secrets(section.get("imagePullSecrets"))
    if section.get("resources"):
        for container in given.containers.values():
            container["resources"] = section["resources"]
    if section.get("hostNetwork") is True:
        given.pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}


def daemonset(found: Release, spec: Mapping[str, Any], name: str, namespace: str, owner: tuple[str, str, str]) -> Json:
    """The ClusterPolicy's DaemonSet for one operand."""
    description, image = operand(found.version, name), images(found, spec)
    given = pods.draft(description, name, namespace, owner, image=image)
    common(given, spec)
    if name in TRANSFORMS:
        TRANSFORMS[name](given, spec, found, image)
    if description["component"] in SETTABLE:
        _containers(given, name, at(spec, description["component"], {}))
    if description["runtimeClass"]:
        _gpu_access(given, spec)
    _driver_root(given, spec)
    if name not in OWN_ENV:
        add_env(given, given.main, at(spec, f"{description['component']}.env"))
    return pods.build(given, names.LAST_APPLIED)
