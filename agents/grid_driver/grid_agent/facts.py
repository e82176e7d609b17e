"""What the agent knows of its host, of its node and of its own work, and the two worlds it acts on.

Everything here is plain data, so that decisions can be tested, simulated and replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from grid_agent.steps import State, Step
from grid_agent.wanted import Target, Wanted

__all__ = ["State", "Step"]

PREFIX = "nvidia.com/gpu.deploy."
GATED = (
    "container-toolkit",
    "operator-validator",
    "device-plugin",
    "gpu-feature-discovery",
    "dcgm",
    "dcgm-exporter",
    "node-status-exporter",
)
"""Operands that the gate keeps off a node; each is a label `nvidia.com/gpu.deploy.<operand>`."""
GATE_LABELS = tuple(f"{PREFIX}{operand}" for operand in GATED)
PAUSED = "paused-for-grid-driver"
"""The label value of a closed gate. Not `false`, so that a user, and an agent without memory, can see who set it."""
RETRY_ANNOTATION = "physical-ai/grid-driver-retry"
"""On the node: any new value clears failed attempts."""
CONDITION = "GridDriverReady"
POOL_LABEL = "kubernetes.azure.com/agentpool"
"""On every node of AKS: the name of its node pool."""
NAMESPACE = "gpu-operator"
TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
OPERANDS = (
    TOOLKIT,
    VALIDATOR,
    "nvidia-device-plugin-daemonset",
    "nvidia-device-plugin-mps-control-daemon",
    "gpu-feature-discovery",
    "nvidia-dcgm",
    "nvidia-dcgm-exporter",
    "nvidia-node-status-exporter",
)
"""Label `app` of the operator's pods that see the driver."""


@dataclass(frozen=True)
class Gpu:
    """An NVIDIA device on the PCI bus."""

    address: str
    id: str
    """`vendor:device`, as `10de:2bb5`."""
    driver: str = ""
    """Kernel driver bound to it: nvidia, nouveau, vfio-pci …; empty: none."""


@dataclass(frozen=True)
class Module:
    """A kernel module, loaded or on disk."""

    version: str
    """Empty where the module has none."""
    flavour: Literal["open", "proprietary", ""] = ""
    """From its licence: Dual MIT/GPL is open."""
    users: int = 0


@dataclass(frozen=True)
class Smi:
    """One run of nvidia-smi. It is not run while no module is loaded, because it would load the module on disk."""

    found: bool = False
    """A regular, non-empty, executable file /usr/bin/nvidia-smi."""
    ran: bool = False
    version: str = ""
    """Driver version it reports (of the library); empty where it failed."""
    error: str = ""
    """First line of its failure, `timed out` where it hung, or what makes its report unreliable."""
    devices: int = 0
    mig: Literal["enabled", "disabled", ""] = ""
    """Enabled where it is on any device."""
    mig_devices: int = 0
    licence: Literal["licensed", "unlicensed", "unknown"] = "unknown"
    persistence: bool = True
    """False where it says that persistence mode is disabled."""
    recovery: str = ""
    """What it says a GPU needs before it can be used again, in its own words: Reboot, GPU_RESET …; empty: nothing."""


@dataclass(frozen=True, order=True)
class Process:
    """A process that has a device node of the driver open."""

    name: str
    pid: int
    pod: str = ""
    """Uid of its Pod; empty: it belongs to none."""

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


@dataclass(frozen=True)
class Job:
    """The last long job on the host, as the host knows it."""

    id: str
    step: Step
    target: Target
    state: Literal["running", "succeeded", "failed", "vanished"]
    """`vanished`: it neither runs nor left a result: it was killed, or the machine restarted."""
    code: int = 0
    """Exit code of a finished job; README.md lists them."""
    sentence: str = ""
    """The job's last message."""
    started: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class Record:
    """What an install job left about itself when it succeeded: <state>/installed.json."""

    version: str
    sha256: str
    module_type: str
    kernel: str


@dataclass(frozen=True)
class HostFacts:
    """The host, seen just now. Defaults are those of a healthy fresh Ubuntu node with one vGPU and no driver."""

    kernel: str = "6.8.0-1030-azure"
    architecture: str = "x86_64"
    system: str = "ubuntu 24.04"
    """`ID VERSION_ID` of /etc/os-release."""
    boot_id: str = "boot-1"
    gpus: tuple[Gpu, ...] = (Gpu("0001:00:00.0", "10de:2bb5"),)
    secure_boot: bool = False
    usr_writable: bool = True
    free_bytes: int = 50 << 30
    """In the file system of the agent's folder."""
    headers: bool = True
    """/lib/modules/<kernel>/build leads to headers."""
    compiler: bool = True
    """gcc, make and the headers of the C library exist."""
    nouveau: bool = False
    loaded: Mapping[str, Module] = field(default_factory=dict[str, Module])
    """Loaded modules of NVIDIA, by name with underscores: nvidia, nvidia_uvm, nvidia_modeset …"""
    on_disk: Module | None = None
    """What `modprobe nvidia` would load on the running kernel."""
    library: str = ""
    """Version of libnvidia-ml on the host; several: joined with a comma, oldest first."""
    smi: Smi = Smi()
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Loaded module -> parameter -> value as the kernel shows it (`Y` for a true boolean). Not all are shown."""
    record: Record | None = None
    half_install: bool = False
    """An install job started and did not report its end."""
    prebaked: str = ""
    """Version of the CUDA driver in the node image (`unknown` where only its marker is left); empty: none."""
    packaged: tuple[str, ...] = ()
    """Driver packages that dpkg owns."""
    gridd: Literal["active", "inactive", "missing"] = "missing"
    configured: bool = False
    """modprobe.d matches the settings: it has options and blacklist, or none of them once the driver is removed."""
    gridd_configured: bool = False
    """/etc/nvidia/gridd.conf matches the settings."""
    legacy_marker: bool = False
    legacy_mount: Literal["none", "root", "deleted", "other"] = "none"
    """What is mounted on /run/nvidia/driver: nothing, a bind of /, a mount whose source is deleted, something else."""
    driver_ready: Literal["absent", "host", "container"] = "absent"
    """The validator's verdict in /run/nvidia/validations/driver-ready, by its IS_HOST_DRIVER."""
    gpu_processes: tuple[Process, ...] = ()
    """Processes that have /dev/nvidia* open, without the driver's own daemons."""
    kernel_users: tuple[str, ...] = ()
    """Loaded modules that use the driver's modules and do not belong to it."""
    missing_nodes: tuple[str, ...] = ()
    """Device nodes of the loaded driver that do not exist."""
    cached: tuple[str, ...] = ()
    """sha256 of installers in the cache that were complete and correct when they were stored."""
    job: Job | None = None


@dataclass(frozen=True)
class Pod:
    """A pod on this node."""

    namespace: str
    name: str
    uid: str
    app: str = ""
    """Label `app`."""
    phase: str = "Running"
    terminating: bool = False
    looking: bool = False
    """Its first init container has not succeeded: in toolkit and validator the one that checks the driver."""
    begun: float | None = None
    """When it checked the driver first: start of its first init container, or of its first container."""
    gpus: int = 0


@dataclass(frozen=True)
class NodeFacts:
    """The node as the API server shows it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    operands: tuple[Pod, ...] = ()
    """Pods of the GPU Operator on this node that OPERANDS names."""
    gpu_pods: tuple[Pod, ...] | None = ()
    """Pods on this node that request NVIDIA devices and have not ended; None: this account may not list them."""
    condition: tuple[str, str] | None = None
    """Status and reason of the current condition."""


@dataclass(frozen=True)
class Condition:
    """The node's condition."""

    status: Literal["True", "False", "Unknown"]
    reason: str
    """CamelCase, as the API requires."""
    message: str


class HostError(Exception):
    """An action of the host failed; the text is a sentence for users."""


class ClusterError(Exception):
    """A request to the API server failed; the text is a sentence for users."""

    def __init__(self, kind: Literal["unreachable", "forbidden", "conflict", "refused", "other"], text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Host(Protocol):
    """The machine: real (`host.RealHost`), or simulated."""

    def inspect(self, wanted: Wanted) -> HostFacts:
        """Observe everything, by a few short commands. Never changes anything, never loads a module."""
        ...

    def perform(self, step: Step, target: Target, wanted: Wanted, job_id: str) -> None:
        """Do CLEAN, UNLOAD, CONFIGURE, LOAD, PERSIST or MARK_LEGACY, or start the job of FETCH, REMOVE or INSTALL.

        `job_id` names a job and is empty for the others. Raises HostError where it could not.
        """
        ...


class ClusterApi(Protocol):
    """The API server, as far as this node's account may use it. Every method raises ClusterError."""

    def observe(self) -> NodeFacts: ...

    def label(self, labels: Mapping[str, str]) -> None:
        """Set labels on the own node."""
        ...

    def delete(self, pod: Pod) -> None:
        """Delete exactly this Pod (by uid). One that no longer exists is no error."""
        ...

    def evict(self, pod: Pod) -> None:
        """Evict a pod; kind `refused` where a disruption budget forbids it now."""
        ...

    def report(self, condition: Condition) -> None:
        """Set the node's condition."""
        ...

    def event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event about the node."""
        ...
