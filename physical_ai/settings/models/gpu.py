"""Settings of the GPU Operator, and of GPU sharing in a pool. Settings of a pool's driver are in `node_pools`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Model, written

OperatorVersion = Annotated[str, written(r"^v\d+\.\d+\.\d+$", "a GPU Operator release, like v26.7.1")]
DriverVersion = Annotated[
    str, written(r"^\d{3}(\.\d{2,3}(\.\d{2})?)?$", 'a driver version in quotes, like "580.173.02"')
]
"""Driver build, or only its branch where drivers are precompiled."""
ToolkitVersion = Annotated[
    str, written(r"^v?\d+\.\d+\.\d+(-[a-z0-9.]+)?$", "a version of the container toolkit, like v1.20.0")
]
ModuleType = Literal["auto", "open", "proprietary"]
MigStrategy = Literal["", "none", "single", "mixed"]
Replicas = Annotated[int, Field(le=128)]
"""Number of replicas. The device plugin requires at least 2, which `physical_ai.settings.rules.sharing` checks."""


class TimeSlicing(Model):
    """Settings of time-slicing: several Pods use a GPU in turns. GPU memory is shared without isolation."""

    replicas: Replicas = Field(description="Times that each GPU is offered; at least 2.")
    rename: bool = Field(default=False, description="Offer nvidia.com/gpu.shared instead of nvidia.com/gpu.")
    fail_requests_greater_than_one: bool = Field(
        default=True, description="Reject Pods that request more than one: a second replica is not a second GPU."
    )


class Mps(Model):
    """Settings of CUDA's Multi-Process Service: several Pods use a GPU at once, each with a share of its memory."""

    replicas: Replicas = Field(description="Shares that each GPU is divided into; at least 2.")
    rename: bool = Field(default=False, description="Offer nvidia.com/gpu.shared instead of nvidia.com/gpu.")
    fail_requests_greater_than_one: bool = Field(
        default=True, description="Reject Pods that request more than one share."
    )


class Mig(Model):
    """Settings of MIG: the MIG manager on the node partitions GPUs into instances with isolated memory and faults."""

    strategy: Literal["single", "mixed"] = Field(
        description="single: one profile, offered as nvidia.com/gpu. mixed: each profile as nvidia.com/mig-<profile>."
    )
    profiles: dict[str, Annotated[int, Field(ge=1, le=7)]] = Field(
        description="Instances of each profile on every GPU, such as 1g.12gb: 7."
    )


class Sharing(Model):
    """Settings for sharing a pool's GPUs between Pods. If nothing is set, each GPU belongs to one Pod."""

    time_slicing: TimeSlicing | None = Field(default=None, description="Time-slicing; not together with mps.")
    mps: Mps | None = Field(default=None, description="Concurrent use of a GPU; not with timeSlicing, not on MIG.")
    mig: Mig | None = Field(default=None, description="Divided into MIG instances; never on vGPU sizes.")


class OperatorDriver(Model):
    """Settings of the driver that the GPU Operator installs on pools with driver source `operator`. A pool's own driver
    settings override them.
    """

    version: DriverVersion = Field(description="Build, or the branch alone where precompiled.")
    module_type: ModuleType = Field(default="auto", description="Kernel modules; auto uses the recommended ones.")
    precompiled: bool = Field(
        default=False, description="Use driver images precompiled for a kernel: signed, but one for each kernel."
    )


class Toolkit(Model):
    """Settings of the NVIDIA Container Toolkit, which makes GPUs available to containerd. They apply to all pools."""

    version: ToolkitVersion | None = Field(default=None, description="Absent: the version of the release.")
    runtime_config_source: Literal["file", "command", "command,file", "file,command"] = Field(
        default="file",
        description="Source of containerd's schema for the toolkit. With command it writes one with which"
        " containerd 2.3 on AKS nodes does not start.",
    )


class Gate(Model):
    """Settings of the GPU gate, which waits at the end of a deployment until the nodes of every pool offer their
    GPUs.
    """

    timeout_minutes: Annotated[int, Field(ge=0, le=240)] = Field(
        default=45,
        description="Minutes that a deployment waits for the GPUs of the nodes there are; then it fails and names the"
        " gate that is closed. 0: checks once, and only warns.",
    )


class GpuOperator(Model):
    """Settings of the NVIDIA GPU Operator."""

    version: OperatorVersion = Field(description="Release, such as v26.7.1; physai compat checks it.")
    existing: Literal["refuse", "use"] = Field(
        default="refuse",
        description="A GPU Operator that an existing cluster has before the stack. refuse: nothing is installed beside"
        " it. use: it stays as it is, the stack installs none, and stops where it differs from what the pools need.",
    )
    driver: OperatorDriver = Field(description="Drivers of the pools with source operator.")
    driver_owner: Literal["NVIDIADriver", "ClusterPolicy"] = Field(
        default="NVIDIADriver",
        description="NVIDIADriver: drivers per pool. ClusterPolicy: one driver, chosen by one node's operating system.",
    )
    toolkit: Toolkit = Field(default_factory=Toolkit, description="Container toolkit.")
    cdi: bool = Field(default=True, description="Give GPUs to containers by CDI.")
    runtime: Literal["containerd", "crio"] = Field(
        default="containerd",
        description="Container runtime of the nodes. AKS has containerd.",
    )
    nri: bool = Field(default=False, description="Let an NRI plugin inject CDI devices; needs cdi.")
    mig_strategy: MigStrategy | None = Field(
        default=None, description='MIG strategy of all pools; absent: derived from them ("" where they differ).'
    )
    gate: Gate = Field(default_factory=Gate, description="Waiting for GPUs at the end of a deployment.")
