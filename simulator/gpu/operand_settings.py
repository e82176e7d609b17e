"""Settings of a ClusterPolicy that change the DaemonSet of one operand: a function for each operand that has such
settings.

Source: NVIDIA/gpu-operator, the operands' `Transform` functions in controllers/object_controls.go.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from simulator.cluster.objects import at
from simulator.gpu import names
from simulator.gpu.pods import Draft
from simulator.gpu.release import Release

MIG_LAYOUTS, GPU_CLIENTS = "default-mig-parted-config", "default-gpu-clients"
"""ConfigMaps of the MIG manager that the operator creates, unless the ClusterPolicy names others."""
INSTALL_DIR = "/usr/local/nvidia"
MPS_ROOT = "/run/nvidia/mps"


def cdi(spec: Mapping[str, Any]) -> bool:
    return at(spec, "cdi.enabled", False) is True


def nri(spec: Mapping[str, Any]) -> bool:
    return at(spec, "cdi.nriPluginEnabled", False) is True


def runtime_class(spec: Mapping[str, Any]) -> str:
    return str(at(spec, "operator.runtimeClass", "nvidia"))


def add_env(given: Draft, container: str, entries: Any) -> None:
    """Adds a component's `env` to a container; the user's values take precedence."""
    for entry in entries or ():
        value = entry.get("value", "")
        field = at(entry, "valueFrom.fieldRef.fieldPath")
        given.env(container)[entry["name"]] = value if field is None else {"fieldRef": str(field)}


def _config_manager(given: Draft, spec: Mapping[str, Any], image: str, process: str) -> None:
    """Adds the sidecar that follows a node's label `nvidia.com/device-plugin.config`; unknown keys make its init
    container fail.
    """
    config: Mapping[str, Any] = at(spec, "devicePlugin.config", {})
    if not config.get("name"):
        return
    env = {
        "ONESHOT": "true",
        "KUBECONFIG": "",
        "NODE_NAME": {"fieldRef": "spec.nodeName"},
        "NODE_LABEL": names.DEVICE_PLUGIN_CONFIG,
        "CONFIG_FILE_SRCDIR": "/available-configs",
        "CONFIG_FILE_DST": "/config/config.yaml",
        "DEFAULT_CONFIG": str(config.get("default") or ""),
        "SEND_SIGNAL": "false",
        "SIGNAL": "",
        "PROCESS_TO_SIGNAL": "",
        "FALLBACK_STRATEGIES": "empty",
    }
    loop = {**env, "ONESHOT": "false", "SEND_SIGNAL": "true", "SIGNAL": "1", "PROCESS_TO_SIGNAL": process}
    given.env(given.main)["CONFIG_FILE"] = "/config/config.yaml"
    given.init["config-manager-init"] = {"image": image, "command": ["config-manager"], "env": env}
    given.containers["config-manager"] = {
        "image": image,
        "command": ["config-manager"],
        "env": loop,
        "privileged": True,
    }
    given.volumes |= {str(config["name"]): {"configMap": config["name"]}, "config": {"emptyDir": {}}}
    if not given.pod.get("hostPID"):
        # The sidecar signals its neighbour.
        given.pod["shareProcessNamespace"] = True


def _mig_strategy(given: Draft, spec: Mapping[str, Any]) -> None:
    """Sets a non-empty MIG strategy in the environment, which takes precedence over every pool's configuration file."""
    if at(spec, "mig.strategy"):
        given.env(given.main)["MIG_STRATEGY"] = str(at(spec, "mig.strategy"))


def hook_path(spec: Mapping[str, Any]) -> str:
    return posixpath.join(str(at(spec, "toolkit.installDir", INSTALL_DIR)), "toolkit/nvidia-cdi-hook")


def toolkit(given: Draft, spec: Mapping[str, Any], found: Release, _: Mapping[str, str]) -> None:
    env = given.env(given.main)
    env["ROOT"] = str(at(spec, "toolkit.installDir", INSTALL_DIR))
    given.volumes["toolkit-install-dir"] = {"hostPath": env["ROOT"]}
    if cdi(spec):
        env |= {"CDI_ENABLED": "true", "CRIO_CONFIG_MODE": "config", **found.cdi.toolkit_env}
        env |= found.cdi.default_env if at(spec, "cdi.default", False) is True else {}
    if nri(spec) and cdi(spec):
        env["ENABLE_NRI_PLUGIN"] = "true"
    wishes = {entry["name"]: entry.get("value", "") for entry in at(spec, "toolkit.env", [])}
    env["RUNTIME"] = "containerd"
    add_env(given, given.main, at(spec, "toolkit.env"))
    if nri(spec):
        env["NRI_SOCKET"] = "/runtime/nri-sock-dir/nri.sock"
        given.volumes["nri-socket"] = {"hostPath": "/var/run/nri", "type": "DirectoryOrCreate"}
        if found.cdi.nri_alone:
            return
    config = wishes.get("CONTAINERD_CONFIG", "/etc/containerd/config.toml")
    socket = wishes.get("CONTAINERD_SOCKET", "/run/containerd/containerd.sock")
    env["CONTAINERD_RUNTIME_CLASS"] = runtime_class(spec)
    env["RUNTIME_CONFIG"] = env["CONTAINERD_CONFIG"] = f"/runtime/config-dir/{posixpath.basename(config)}"
    env["RUNTIME_SOCKET"] = env["CONTAINERD_SOCKET"] = f"/runtime/sock-dir/{posixpath.basename(socket)}"
    given.volumes["containerd-config"] = {"hostPath": posixpath.dirname(config), "type": "DirectoryOrCreate"}
    if found.cdi.drop_in:
        drop_in = wishes.get("RUNTIME_DROP_IN_CONFIG", "/etc/containerd/conf.d/99-nvidia.toml")
        env["RUNTIME_DROP_IN_CONFIG"] = f"/runtime/config-dir.d/{posixpath.basename(drop_in)}"
        env["RUNTIME_DROP_IN_CONFIG_HOST_PATH"] = drop_in
        folder = {"hostPath": posixpath.dirname(drop_in), "type": "DirectoryOrCreate"}
        given.volumes["containerd-drop-in-config"] = folder
    given.volumes["containerd-socket"] = {"hostPath": posixpath.dirname(socket)}


def _mps_root(given: Draft, spec: Mapping[str, Any]) -> None:
    """Applies `devicePlugin.mps.root`, the folder on the host that the MPS control daemon uses."""
    root = str(at(spec, "devicePlugin.mps.root", "") or MPS_ROOT)
    if root == MPS_ROOT:
        return
    given.volumes["mps-root"]["hostPath"] = root
    given.volumes["mps-shm"]["hostPath"] = posixpath.join(root, "shm")
    if "MPS_ROOT" in given.env(given.main):
        given.env(given.main)["MPS_ROOT"] = root


def device_plugin(given: Draft, spec: Mapping[str, Any], found: Release, image: Mapping[str, str]) -> None:
    env = given.env(given.main)
    env["DEVICE_LIST_STRATEGY"] = found.cdi.list_strategy if cdi(spec) else "envvar"
    if cdi(spec):
        env |= {"CDI_ENABLED": "true", "CDI_ANNOTATION_PREFIX": found.cdi.annotation_prefix}
        if at(spec, "toolkit.enabled", True) is True:
            env["NVIDIA_CDI_HOOK_PATH"] = hook_path(spec)
    _mig_strategy(given, spec)
    _mps_root(given, spec)
    _config_manager(given, spec, image["devicePlugin"], "nvidia-device-plugin")


def mps(given: Draft, spec: Mapping[str, Any], _: Release, image: Mapping[str, str]) -> None:
    _mig_strategy(given, spec)
    _mps_root(given, spec)
    _config_manager(given, spec, image["devicePlugin"], "/usr/bin/mps-control-daemon")


def feature_discovery(given: Draft, spec: Mapping[str, Any], _: Release, image: Mapping[str, str]) -> None:
    _mig_strategy(given, spec)
    _config_manager(given, spec, image["devicePlugin"], "gpu-feature-discovery")


def validator(given: Draft, spec: Mapping[str, Any], _: Release, image: Mapping[str, str]) -> None:
    for step in ("cuda-validation", "plugin-validation"):
        given.env(step)["VALIDATOR_IMAGE"] = image["validator"]
        if not nri(spec):
            given.env(step)["VALIDATOR_RUNTIME_CLASS"] = runtime_class(spec)
    given.env("plugin-validation")["MIG_STRATEGY"] = str(at(spec, "mig.strategy", ""))
    for step in ("driver", "toolkit", "cuda", "plugin"):
        add_env(given, f"{step}-validation", at(spec, f"validator.{step}.env"))
    if at(spec, "devicePlugin.enabled", True) is not True:
        del given.init["plugin-validation"]  # It would wait for resources that nothing offers.


def dcgm_exporter(given: Draft, spec: Mapping[str, Any], _: Release, __: Mapping[str, str]) -> None:
    env = given.env(given.main)
    if at(spec, "dcgm.enabled", False) is True:
        env["DCGM_REMOTE_HOSTENGINE_INFO"] = "nvidia-dcgm:5555"
    config = at(spec, "dcgmExporter.config.name")
    if config:
        env["DCGM_EXPORTER_COLLECTORS"] = "/etc/dcgm-exporter/dcgm-metrics.csv"
        items = {"dcgm-metrics.csv": "dcgm-metrics.csv"}
        given.volumes["metrics-config"] = {"configMap": config, "items": items}
    if at(spec, "dcgmExporter.hostPID", False) is True:
        given.pod["hostPID"] = True
    if at(spec, "dcgmExporter.hostNetwork", False) is True:
        given.pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}


def mig_manager(given: Draft, spec: Mapping[str, Any], _: Release, __: Mapping[str, str]) -> None:
    if cdi(spec):
        given.env(given.main)["CDI_ENABLED"] = "true"
        if at(spec, "toolkit.enabled", True) is True:
            given.env(given.main)["NVIDIA_CDI_HOOK_PATH"] = hook_path(spec)
    layouts = at(spec, "migManager.config.name")
    if layouts and layouts != MIG_LAYOUTS:
        given.env(given.main).pop("DEFAULT_CONFIG_FILE", None)
        given.env(given.main)["CONFIG_FILE"] = "/mig-parted-config/config.yaml"
        given.volumes["mig-parted-config"] = {"configMap": layouts}
    if clients := at(spec, "migManager.gpuClientsConfig.name"):
        given.volumes["gpu-clients"] = {"configMap": clients}


Transform = Callable[[Draft, Mapping[str, Any], Release, Mapping[str, str]], None]
TRANSFORMS: Mapping[str, Transform] = {
    "nvidia-container-toolkit-daemonset": toolkit,
    "nvidia-operator-validator": validator,
    "nvidia-device-plugin-daemonset": device_plugin,
    "nvidia-device-plugin-mps-control-daemon": mps,
    "nvidia-dcgm-exporter": dcgm_exporter,
    "gpu-feature-discovery": feature_discovery,
    "nvidia-mig-manager": mig_manager,
}
