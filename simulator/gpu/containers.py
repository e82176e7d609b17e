"""Main containers of the operands. Each function simulates one attempt of a main container to do its work on a node,
after the init containers of its Pod have finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from physical_ai.catalog import operator_release
from simulator.cluster.names import GPU
from simulator.gpu import gates, names, sharing
from simulator.gpu.counters import csv_fault
from simulator.gpu.dra_names import HOST_ROOT
from simulator.gpu.driver_digest import CONFIG_DIGEST
from simulator.gpu.gates import Look
from simulator.gpu.hardware import repartitioned
from simulator.gpu.node_state import DRIVER_READY, MARKER, NodeState, Pod
from simulator.gpu.release import release
from simulator.gpu.sharing import PluginFault

NEWEST_CONFIG = {"1": 2, "2.0": 3, "2.1": 3, "2.2": 3, "2.3": 4}
"""Schema version that `containerd config dump` prints, by containerd release."""


def driver(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the driver container to build and load the datacenter driver.

    The attempt fails if the image is for another operating system, if the GPU is a vGPU, or if Secure Boot is on and
    the modules are not signed.
    """
    tag = pod.workload.image.rpartition(":")[2]
    if not tag.endswith(state.os):
        return state, f"driver image {tag} is not for {state.os}: could not install kernel headers", True
    if state.hardware.vgpu:
        return state, "No supported NVIDIA GPU found by the datacenter driver: the GPU is a vGPU", True
    if state.hardware.secure_boot and not is_precompiled(tag):
        return state, "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", True
    return _installed(state, pod)


def _installed(state: NodeState, pod: Pod) -> Look:
    """One attempt of a driver container to install its driver on a node that the driver supports. If the kernel modules
    are already loaded, only the userspace part of the driver is installed.
    """
    digest = pod.workload.env.get(pod.workload.main, {}).get(CONFIG_DIGEST, "")
    if digest and digest == state.loaded and not _is_forced(pod):
        if pod.age < state.timing.driver_start:
            return state, "performing userspace-only install", False
        return replace(state.with_files(MARKER), keeps_modules=True), gates.OPEN, False
    if pod.age < state.timing.driver_build:
        return state, "Installing NVIDIA driver kernel modules", False
    built = replace(state.with_files(MARKER), loaded=digest, built_for=state.network_driver, keeps_modules=False)
    return built, gates.OPEN, False


def _is_forced(pod: Pod) -> bool:
    return pod.workload.env.get(gates.DRIVER_MANAGER, {}).get("FORCE_REINSTALL") == "true"


def is_precompiled(tag: str) -> bool:
    """True if a driver image contains its kernel modules, signed by Canonical. The tag of such an image also names a
    kernel.
    """
    return tag.count("-") > 1


def dumped_config(containerd: str) -> int:
    """Schema version that `containerd config dump` prints in this version of containerd."""
    major, _, rest = containerd.partition(".")
    return NEWEST_CONFIG.get(f"{major}.{rest.partition('.')[0]}", NEWEST_CONFIG.get(major, 4))


def toolkit(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the toolkit's container to configure the nvidia runtimes and restart containerd.

    The first entry of RUNTIME_CONFIG_SOURCE, or of the release's default for this variable, determines the schema
    version of the drop-in file. With the entry `command`, it is the newest version that the installed containerd knows.
    For containerd 2.3 this version is newer than the version of the node's own config.toml, and containerd then no
    longer starts (NVIDIA/gpu-operator#2646).
    """
    if DRIVER_READY not in state.files:
        return state, f"{DRIVER_READY} is missing", True
    env = pod.workload.env.get(pod.workload.main, {})
    if "RUNTIME_CONFIG" not in env:
        # NRI: containerd's configuration is left alone.
        return state, gates.OPEN, False
    sources = env.get("RUNTIME_CONFIG_SOURCE", "")
    first = (sources.split(",") if sources else release(state.release).toolkit_sources)[0]
    version = dumped_config(state.containerd) if first == "command" else state.hardware.containerd_config
    if "RUNTIME_DROP_IN_CONFIG" in env and version >= 4 > state.hardware.containerd_config:
        reason = (
            f"containerd: failed to load drop-in {env['RUNTIME_DROP_IN_CONFIG_HOST_PATH']}: drop-in config version "
            f"{version} is higher than root config version {state.hardware.containerd_config}"
        )
        return replace(state, containerd_dead=reason), reason, True
    cdi = ("nvidia-cdi", "nvidia-legacy") if env.get("CDI_ENABLED") == "true" else ()
    runtimes = {env.get("CONTAINERD_RUNTIME_CLASS", "nvidia"), *cdi}
    return replace(state, runtimes=state.runtimes | runtimes), gates.OPEN, False


def device_plugin(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the device plugin to register the devices of its MIG strategy, shared as its configuration
    says.
    """
    fault = gates.device_fault(state, pod.root)
    if mig_under_way(state):
        fault = "stopped by the MIG manager, which cannot change the geometry of this GPU"
    try:
        if fault:
            raise PluginFault(fault)
        devices = gates.visible(state, pod)
        wanted = sharing.sharing(pod.config)
        resources = sharing.shared(devices, wanted)
    except PluginFault as problem:
        return replace(state, devices=(), resources={}), f"error starting plugins: {problem}", True
    mps = state.pods.get("nvidia-device-plugin-mps-control-daemon")
    if wanted.strategy == "mps" and not (mps and mps.ready):
        return replace(state, devices=(), resources={}), "error waiting for MPS daemon: MPS daemon not ready", True
    renames = dict(wanted.renames or {})
    return replace(state, devices=tuple(devices), resources=resources, renames=renames), gates.OPEN, False


def feature_discovery(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of GPU feature discovery to describe the node's GPUs in labels."""
    fault = gates.device_fault(state, pod.root)
    try:
        devices = [] if fault else gates.visible(state, pod)
    except PluginFault as problem:
        fault = str(problem)
        devices = []
    if fault:
        return state, f"error creating NVML labeler: {fault}", True
    env = pod.workload.env.get(pod.workload.main, {})
    given, configured = state.hardware, pod.config
    wanted = sharing.sharing(configured)
    replicas = (wanted.replicas or {}).get(GPU, 1)
    renamed = bool(wanted.renames)
    version = state.host.driver if pod.root == HOST_ROOT else pod_version(state)
    suffix = "-SHARED" if wanted.strategy != "none" and replicas > 1 and not renamed else ""
    found: dict[str, str | None] = {
        names.PRODUCT: f"{given.product}{suffix}",
        names.GPU_COUNT: str(sum(device.resource == GPU for device in devices)),
        names.GPU_MEMORY: str(given.memory_mib),
        names.GPU_REPLICAS: str(replicas),
        names.GPU_SHARING: wanted.strategy,
        names.DRIVER_VERSION: version,
        names.MIG_CAPABLE: "true" if given.mig_capable else "false",
        names.MIG_STRATEGY: sharing.strategy(env, configured),
        names.MPS_CAPABLE: "true" if wanted.strategy == "mps" else "false",
        names.VGPU_PRESENT: "true" if given.vgpu_signature else "false",
    }
    if given.vgpu_signature:
        found[names.VGPU_HOST_DRIVER] = given.vgpu_signature
    return replace(state, own_labels={**state.own_labels, **found}), gates.OPEN, False


def pod_version(state: NodeState) -> str:
    """Version of the driver in the operator's driver Pod: `595.91.07` for `driver:595.91.07-ubuntu24.04`."""
    pod = state.driver_pod
    return pod.workload.image.rpartition(":")[2].partition("-")[0] if pod else state.host.driver


def mig_manager(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the MIG manager to partition the GPUs as the label `nvidia.com/mig.config` says.

    On a vGPU the attempt fails, and all GPU clients remain stopped.
    """
    wanted = state.labels.get(names.MIG_CONFIG, "")
    if not wanted:
        return state, gates.OPEN, False
    result = repartitioned(state.hardware, wanted, state.mig_layouts)
    outcome = "failed" if result is None else "success"
    state = replace(state, own_labels={**state.own_labels, names.MIG_STATE: outcome})
    if result is None:
        return state, f"error applying MIG configuration {wanted}", True
    return replace(state, hardware=replace(state.hardware, mig=result)), gates.OPEN, False


def mig_under_way(state: NodeState) -> bool:
    """True if a MIG manager on the node has failed and repeats its attempts to partition the GPUs. Each attempt stops
    the Pods that use the GPUs.
    """
    return any(pod.workload.main == "nvidia-mig-manager" and pod.failed for pod in state.pods.values())


def dcgm_exporter(state: NodeState, pod: Pod) -> Look:
    """Simulated start of the DCGM exporter: the exporter reads its CSV, and ends with an error if the CSV has a field
    name that the exporter does not know.
    """
    if pod.ready:
        return state, gates.OPEN, False
    fault = csv_fault(state.collectors, operator_release(state.release).dcgm_exporter)
    return state, fault, bool(fault)


Main = Callable[[NodeState, Pod], Look]
MAINS: Mapping[str, Main] = {
    "nvidia-driver-ctr": driver,
    "nvidia-container-toolkit-ctr": toolkit,
    "nvidia-device-plugin": device_plugin,
    "gpu-feature-discovery": feature_discovery,
    "nvidia-mig-manager": mig_manager,
    "nvidia-dcgm-exporter": dcgm_exporter,
}
"""Functions that each simulate one attempt of a main container, by container name. A container without a function just
runs.
"""

ONCE = ("nvidia-driver-ctr", "nvidia-container-toolkit-ctr")
"""Containers whose function is not called again once the container is ready. The functions of all other containers are
called at every change of the node.
"""
