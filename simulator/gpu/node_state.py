"""State of one simulated GPU node: the host's driver, the validation files, the operator's Pods, and their gates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.cluster.objects import at
from simulator.faults import NO_FAULTS, NodeFaults
from simulator.gpu import sharing
from simulator.gpu.hardware import Hardware
from simulator.gpu.sharing import Device

MARKER, DRIVER_READY, TOOLKIT_READY = ".driver-ctr-ready", "driver-ready", "toolkit-ready"
CUDA_READY, PLUGIN_READY = "cuda-ready", "plugin-ready"


_BACK_OFFS = tuple(itertools.accumulate(min(10 * 2**number, 300) for number in range(12)))
"""Seconds until the first, second ... restart of a container that fails at once."""


@dataclass(frozen=True)
class Timing:
    """Durations of a Pod's steps, in simulated seconds."""

    driver_build: float = 100.0
    """Seconds from the start of the driver container until its startup probe succeeds. With fewer than 120 seconds, the
    operator, which checks every 120 seconds, finds the driver ready at its first check, as on an undisturbed real node.
    """
    driver_start: float = 60.0
    """Seconds until the driver container's startup probe succeeds, if the kernel modules are already loaded."""
    poll: float = 5.0
    """Seconds between two checks of a waiting init container; the real validator waits equally long."""
    start: float = 2.0
    """Seconds from one container's end to the next one's start."""


@dataclass(frozen=True)
class Workload:
    """Properties of a DaemonSet that determine how the DaemonSet's Pod runs on a node."""

    name: str
    init: tuple[str, ...]
    main: str
    env: Mapping[str, Mapping[str, str]]
    runtime_class: str = ""
    image: str = ""
    """Image of the main container."""
    config_map: str = ""
    """Name of the ConfigMap with the device plugin's configurations."""
    is_driver: bool = False


@dataclass(frozen=True)
class Pod:
    """The Pod of one operand on this node."""

    workload: Workload
    at: int = 0
    """Number of init containers that have finished."""
    age: float = 0.0
    """Seconds that the present container has been running."""
    started: bool = False
    """True if the current container has made its first check. Checks that belong to the container's start are then
    over.
    """
    message: str = ""
    """Reason why the Pod waits, for a user: a container's last log line, or the event that prevents the start."""
    failed: bool = False
    """True if the current container has ended with an error; the kubelet then restarts it again and again."""
    ready: bool = False
    """True if the main container is ready."""
    sidecar_fault: str = ""
    """Reason why the driver's sidecar nvidia-peermem-ctr ends again and again; empty if it does not."""
    root: str = ""
    """The driver root that the main container read from driver-ready when it started."""
    config_key: str = ""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Device-plugin configuration that the main container read when it started. `config_key` is the key of this
    configuration.
    """

    @property
    def is_ready(self) -> bool:
        """True if all containers of the Pod are ready."""
        return self.ready and not self.sidecar_fault

    @property
    def fault(self) -> str:
        """Reason why the Pod is not ready; empty if it is."""
        return self.sidecar_fault if self.ready else self.message

    @property
    def restarts(self) -> int:
        """Number of restarts of the current container.

        For a driver container that has failed: the number of the kubelet's back-off times that have passed, at least 1.
        The operator gives up an upgrade after too many restarts. For any other container: 1 if it has failed, otherwise
        0.
        """
        if not self.failed or not self.workload.is_driver:
            return int(self.failed)
        return max(sum(self.age >= end for end in _BACK_OFFS), 1)

    @property
    def container(self) -> str:
        """Name of the init container that is running, or of the main container."""
        init = self.workload.init
        return init[self.at] if self.at < len(init) else self.workload.main

    @property
    def phase(self) -> str:
        """Phase as kubectl shows it: `Init:0/1`, `Init:CrashLoopBackOff`, `CrashLoopBackOff`, `Running`."""
        total = len(self.workload.init)
        if self.at < total:
            return "Init:CrashLoopBackOff" if self.failed else f"Init:{self.at}/{total}"
        return "CrashLoopBackOff" if self.failed else "Running"


@dataclass(frozen=True)
class Host:
    """Driver software on the node's host, which the operator did not install."""

    driver: str = ""
    """Version of a driver installed on the host; nvidia-smi works with it."""
    modules: str = "open"
    """Kind of the driver's kernel modules: `open` or `proprietary`."""
    smi: str = "usr/bin"
    """Directory on the host that contains nvidia-smi."""
    loaded: bool = True
    """True if the driver's kernel modules are in the running kernel."""
    bind_mount: bool = False
    """True if the host's root is mounted on /run/nvidia/driver without the device nodes, as older node set-ups did."""


@dataclass(frozen=True)
class NodeState:
    """State of one GPU node, which `node.step` advances by events."""

    release: str
    hardware: Hardware
    os: str = "ubuntu24.04"
    containerd: str = "2.3.2"
    host: Host = Host()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """The Node's labels, as the API server has them."""
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Configurations of the device plugin, by key of its ConfigMap."""
    mig_layouts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Layouts in the ConfigMap that the ClusterPolicy names for the MIG manager, by name; empty if the MIG manager uses
    its default layouts.
    """
    collectors: str = ""
    """CSV that the DCGM exporter mounts; if empty, the exporter uses the CSV of its image."""
    driver_in_cluster: bool = False
    """True if the operator has a driver Pod on any node of the cluster. The validators on all nodes then wait for the
    operator's driver.
    """
    pods: Mapping[str, Pod] = field(default_factory=dict[str, Pod])
    files: frozenset[str] = frozenset()
    """Names of the files in the node's folder /run/nvidia/validations."""
    driver_root: str = ""
    """Driver root that the file `driver-ready` contains; empty if the file does not exist."""
    loaded: str = ""
    """DRIVER_CONFIG_DIGEST of the operator's driver that is loaded in the kernel; empty if no such driver is loaded or
    it has no digest.
    """
    network_driver: str = ""
    """Image of the network cards' driver that a container has installed; empty if the node uses its own driver."""
    built_for: str = ""
    """Image of the network cards' driver against which nvidia-peermem was built; empty for the node's own network
    driver.
    """
    keeps_modules: bool = False
    """True if the driver's container has installed only the userspace part, because the kernel modules were already
    loaded.
    """
    runtimes: frozenset[str] = frozenset()
    """Runtime handlers in containerd's configuration."""
    containerd_dead: str = ""
    """Reason why containerd does not start, which makes the node NotReady; empty if containerd runs."""
    devices: tuple[Device, ...] = ()
    resources: Mapping[str, int] = field(default_factory=dict[str, int])
    """Amount of each resource that the device plugin has registered."""
    renames: Mapping[str, str] = field(default_factory=dict[str, str])
    """New names of shared resources, under which the device plugin offers them. Keys are the original names."""
    claimable: int = 0
    """Number of GPUs that the DRA driver's plugin has published; resource claims can get these GPUs."""
    own_labels: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Labels that GFD, the MIG manager and the driver manager set on the Node; None removes a label."""
    timing: Timing = Timing()
    faults: NodeFaults = NO_FAULTS

    @property
    def driver_pod(self) -> Pod | None:
        return next((pod for pod in self.pods.values() if pod.workload.is_driver), None)

    @property
    def healthy_resources(self) -> dict[str, int]:
        """Amount of each registered resource that the kubelet offers."""
        return sharing.healthy(self.devices, self.resources, self.renames, self.faults.unhealthy)

    @property
    def open_gpus(self) -> list[int]:
        """Indexes of the GPUs that a new Pod may get. If the device plugin has registered devices, these are the GPUs
        of the devices that it still offers, and can include a GPU that no longer works. Otherwise, Pods get GPUs
        through resource claims, and these are all working GPUs.
        """
        struck = self.faults.unhealthy
        if not self.devices:
            return [gpu for gpu in range(self.hardware.gpus) if gpu not in struck]
        return sharing.open_gpus(self.devices, self.resources, self.renames, struck)

    @property
    def container_driver(self) -> bool:
        """True if the operator's driver is loaded, with its files under /run/nvidia/driver."""
        return self.driver_pod is not None and self.driver_pod.ready and not self.faults.driver_lost

    @property
    def has_peermem(self) -> bool:
        """True if the module nvidia-peermem is loaded.

        Another network driver unloads it, and a module that was not built against the present network driver does not
        load (NVIDIA/gpu-operator#2868).
        """
        return self.container_driver and self.built_for == self.network_driver

    def with_pod(self, pod: Pod) -> NodeState:
        return replace(self, pods={**self.pods, pod.workload.name: pod})

    def with_files(self, *names: str) -> NodeState:
        return replace(self, files=self.files | set(names))

    def without_files(self, *names: str) -> NodeState:
        return replace(self, files=self.files - set(names))


def workload(daemonset: Mapping[str, Any]) -> Workload:
    """The facts about a DaemonSet that a node needs to run its Pod."""
    pod = daemonset["spec"]["template"]["spec"]
    containers = [*pod.get("initContainers", ()), *pod["containers"]]
    maps = [str(at(volume, "configMap.name", "")) for volume in pod.get("volumes", ())]
    own = [each for each in maps if each and not each.endswith("-entrypoint")]
    main = pod["containers"][0]
    labels = at(daemonset, "metadata.labels", {})
    return Workload(
        name=str(at(daemonset, "metadata.name")),
        init=tuple(each["name"] for each in pod.get("initContainers", ())),
        main=str(main["name"]),
        env={each["name"]: {e["name"]: e.get("value", "") for e in each.get("env", ())} for each in containers},
        runtime_class=str(pod.get("runtimeClassName", "")),
        image=str(main["image"]),
        config_map=own[0] if "config-manager-init" in {each["name"] for each in containers} and own else "",
        is_driver=labels.get("app.kubernetes.io/component") == "nvidia-driver",
    )
