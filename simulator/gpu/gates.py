"""Gates of a node: init containers at which a Pod waits. Each gate function simulates one attempt of an init container.
It returns the changed node, and the reason why the container still waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from simulator.cluster.names import DRIVER_WAIT_LABEL, NIC_LABEL
from simulator.gpu import names, sharing
from simulator.gpu.dra_names import CONTAINER_ROOT, HOST_ROOT
from simulator.gpu.node_state import (
    CUDA_READY,
    DRIVER_READY,
    MARKER,
    PLUGIN_READY,
    TOOLKIT_READY,
    NodeState,
    Pod,
)
from simulator.gpu.release import release

DRIVER_MANAGER, PLUGIN, TOOLKIT = "k8s-driver-manager", "nvidia-device-plugin", "nvidia-container-toolkit-ctr"
OPERANDS = frozenset(
    {
        TOOLKIT,
        "nvidia-operator-validator",
        PLUGIN,
        "gpu-feature-discovery",
        "nvidia-dcgm-exporter",
        "nvidia-dcgm-ctr",
        "nvidia-mig-manager",
    }
)
"""Main containers of the operands that the driver manager stops (NVIDIA/k8s-driver-manager v0.12.0,
`evictAllGPUOperatorComponents`).
"""
OPEN = ""
TAKES_LOADED_PEERMEM = (595, 71, 5)
"""First driver version whose image is known to accept that the module nvidia-peermem is already loaded
(NVIDIA/gpu-driver-container 446061a). No image of branch 580 is known to accept this.
"""
RETRY = "command failed, retrying after 5 seconds"

Look = tuple[NodeState, str, bool]
"""Result of one attempt of a container: the node afterwards, the reason why the gate is closed (empty if it is open),
and True if the container has failed.
"""


def host_driver_works(state: NodeState) -> bool:
    """True if the validator finds a working nvidia-smi on the host in the folder that this release searches."""
    host = state.host
    works = bool(host.driver) and host.loaded and not state.faults.driver_lost
    return works and host.smi in release(state.release).host_check


def driver_validation(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the gate `driver-validation`. Only its first attempt checks the host's driver; all later
    attempts wait for the operator's driver.

    Therefore a Pod that starts just before a driver is installed on the host waits until it is deleted. If the operator
    has a driver DaemonSet for any node of the cluster, the gate waits for the marker file of this node's driver
    container.
    """
    if not pod.started:
        state = replace(state.without_files(DRIVER_READY), driver_root="")
        if host_driver_works(state):
            return replace(state.with_files(DRIVER_READY), driver_root=HOST_ROOT), OPEN, False
    if state.driver_in_cluster and MARKER not in state.files:
        missing = f"stat: cannot statx '/run/nvidia/validations/{MARKER}': No such file or directory"
        return state, f"{missing}; {RETRY}", False
    if not (state.container_driver or (state.host.bind_mount and state.host.driver and state.host.loaded)):
        return state, f"failed to find libnvidia-ml.so.1 and nvidia-smi under {CONTAINER_ROOT}; {RETRY}", False
    if release(state.release).validates_peermem and _wants_peermem(state) and not state.has_peermem:
        return state, f"running command sh with args [-c lsmod | grep -E '^nvidia_peermem\\s']; {RETRY}", False
    return replace(state.with_files(DRIVER_READY), driver_root=CONTAINER_ROOT), OPEN, False


def _wants_peermem(state: NodeState) -> bool:
    """True if the driver's Pod loads nvidia-peermem, which gives network cards access to GPUs."""
    pod = state.driver_pod
    env: Mapping[str, str] = {} if pod is None else pod.workload.env.get(DRIVER_MANAGER, {})
    wants = env.get("GPU_DIRECT_RDMA_ENABLED") == "true" and state.labels.get(NIC_LABEL) == "true"
    return wants and state.container_driver


def peermem_fault(state: NodeState) -> str:
    """Reason why the driver's sidecar that loads nvidia-peermem ends; empty if it keeps running or does not exist.

    If the driver container has kept the kernel modules that were already loaded, the sidecar has no file of
    nvidia-peermem to load. Images from 595.71.05 on then use the loaded module; older images fail. Every image fails if
    another network driver has unloaded the module (NVIDIA/gpu-operator#2619, #2844).
    """
    if not _wants_peermem(state):
        return ""
    if state.keeps_modules and not (state.has_peermem and _takes_loaded(state.driver_pod)):
        kernel = state.labels.get(names.KERNEL, "")
        return f"modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/{kernel}"
    return "" if state.has_peermem else "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"


def _takes_loaded(pod: Pod | None) -> bool:
    version = pod.workload.image.rpartition(":")[2].partition("-")[0] if pod is not None else ""
    numbers = version.split(".")
    return all(each.isdigit() for each in numbers) and tuple(map(int, numbers)) >= TAKES_LOADED_PEERMEM


def device_fault(state: NodeState, root: str) -> str:
    """Reason why a container gets no GPU from the driver under `root`; empty if the container gets its GPU."""
    if root == CONTAINER_ROOT and not state.container_driver:
        if state.host.bind_mount:
            # The bind mount carries no device nodes (NVIDIA/gpu-operator#377).
            return f"lstat {CONTAINER_ROOT}/dev/nvidiactl: no such file or directory"
        return f"failed to initialize NVML: the driver under {CONTAINER_ROOT} is missing"
    if root == HOST_ROOT and not host_driver_works(state):
        return "failed to initialize NVML: Driver Not Loaded"
    return "" if root else f"{DRIVER_READY} is missing"


def toolkit_validation(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the gate `toolkit-validation`. In the validator's Pod, the gate runs nvidia-smi in a
    container and writes a file on success. In every other Pod, the gate waits for this file.
    """
    if "cuda-validation" in pod.workload.init:
        fault = device_fault(state, state.driver_root)
        return (state, fault, True) if fault else (state.with_files(TOOLKIT_READY), OPEN, False)
    if TOOLKIT_READY in state.files:
        return state, OPEN, False
    what = "toolkit" if pod.workload.main == "nvidia-mig-manager" else "stack"
    return state, f"waiting for nvidia container {what} to be setup", False


def cuda_validation(state: NodeState, _: Pod) -> Look:
    """Simulated attempt of the gate `cuda-validation`: a vector addition that uses all GPUs and requests none."""
    fault = device_fault(state, state.driver_root)
    return (state, fault, True) if fault else (state.with_files(CUDA_READY), OPEN, False)


def plugin_validation(state: NodeState, _: Pod) -> Look:
    """Simulated attempt of the gate `plugin-validation`, which waits until the node offers any GPU resource. By
    default, the gate starts no workload.
    """
    if any(count for count in state.resources.values()):
        return state.with_files(PLUGIN_READY), OPEN, False
    return state, "GPU resources are not discovered by the node", False


def config_manager(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the gate that selects a device-plugin configuration: the configuration that the node's label
    names, or else the default. The gate fails if the selected configuration does not exist.
    """
    key = config_key(state, pod)
    if key and key not in state.configs:
        return state, f"error: specified config {key} does not exist", True
    return state, OPEN, False


def config_key(state: NodeState, pod: Pod) -> str:
    """Name of the device-plugin configuration for this node; empty for the empty configuration."""
    default = pod.workload.env.get("config-manager-init", {}).get("DEFAULT_CONFIG", "")
    return state.labels.get(names.DEVICE_PLUGIN_CONFIG) or default


def reading_config(state: NodeState, pod: Pod) -> Pod:
    """The Pod with the device-plugin configuration that its main container has read.

    The container reads the ConfigMap when it starts. While it runs, the config-manager sidecar makes it read the
    ConfigMap again only if the node's label names another key.
    """
    key = config_key(state, pod)
    if not pod.workload.config_map or (pod.started and not pod.failed and pod.config_key == key):
        return pod
    return replace(pod, config_key=key, config=state.configs.get(key, {}))


def driver_manager(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the driver Pod's gate. If the node's host has a working driver, the gate sets the label
    `nvidia.com/gpu.deploy.driver` to `pre-installed`, and the DaemonSet then removes its Pod from the node.

    If the kernel modules are built against the network cards' driver, the gate waits for the network cards' driver.
    """
    if pod.workload.is_driver and host_driver_works(state):
        label = {names.DEPLOY_DRIVER: "pre-installed"}
        return replace(state, own_labels={**state.own_labels, **label}), "driver is pre-installed on host", False
    env = pod.workload.env.get(pod.container, {})
    if env.get("GPU_DIRECT_RDMA_ENABLED") == "true" and not _has_network_driver(state, env):
        return state, "Waiting for MOFED to be installed...", False
    return (_with_new_operands(state) if pod.workload.is_driver else state), OPEN, False


def _with_new_operands(state: NodeState) -> NodeState:
    """The node after the driver manager has stopped all operands: the operands' Pods begin with their first init
    container again.

    The DRA driver's plugin is not an operand and keeps running.
    """
    kept = {key: pod for key, pod in state.pods.items() if pod.workload.is_driver or pod.workload.main not in OPERANDS}
    fresh = {key: Pod(pod.workload) for key, pod in state.pods.items() if key not in kept}
    zero = dict.fromkeys(state.resources, 0) if any(pod.workload.main == PLUGIN for pod in fresh.values()) else None
    state = replace(state, pods={**kept, **fresh})
    return state if zero is None else replace(state, devices=(), resources=zero)


def _has_network_driver(state: NodeState, env: Mapping[str, str]) -> bool:
    """True if the network cards' driver is present, or if the node needs no such driver.

    A node without network cards needs no driver, and with USE_HOST_MOFED the driver of the host counts as present. The
    OFED driver's container writes a file on the node; in the simulation, the Network Operator's label replaces the
    file.
    """
    if env.get("USE_HOST_MOFED") == "true" or state.labels.get(NIC_LABEL) != "true":
        return True
    return state.labels.get(DRIVER_WAIT_LABEL) == "false"


def mps_mounts(state: NodeState, _: Pod) -> Look:
    return state, OPEN, False


Gate = Callable[[NodeState, Pod], Look]
GATES: Mapping[str, Gate] = {
    "driver-validation": driver_validation,
    "toolkit-validation": toolkit_validation,
    "cuda-validation": cuda_validation,
    "plugin-validation": plugin_validation,
    "config-manager-init": config_manager,
    DRIVER_MANAGER: driver_manager,
    "mps-control-daemon-mounts": mps_mounts,
}


def sandbox(state: NodeState, pod: Pod) -> str:
    """Reason why the Pod's sandbox cannot be created; empty if it can."""
    if state.containerd_dead:
        return f"node is not ready: {state.containerd_dead}"
    runtime = pod.workload.runtime_class
    if runtime and runtime not in state.runtimes:
        return f'Failed to create pod sandbox: no runtime for "{runtime}" is configured'
    return ""


def visible(state: NodeState, pod: Pod) -> list[sharing.Device]:
    """The devices that the device plugin or GFD in the Pod `pod` sees under its MIG strategy.

    Raises:
        PluginFault: The strategy does not fit the GPUs.
    """
    env = pod.workload.env.get(pod.workload.main, {})
    return sharing.devices(state.hardware.mig, sharing.strategy(env, pod.config))
