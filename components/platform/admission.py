"""The part of a platform that says what the API server refuses and changes."""

from __future__ import annotations

from components.gpu.admission import GpuAdmission, GpuAdmissionArgs
from components.platform.common import Common, InstallTarget
from parts.registry import PARTS
from physical_ai.planning.gpu_admission import policies
from physical_ai.planning.gpu_nodes import gpu_node_policies
from physical_ai.planning.node_admission import node_policies
from physical_ai.planning.pod_security import pod_security_policies


def declare_admission(common: Common, install: InstallTarget) -> GpuAdmission:
    settings = common.settings
    nodes = [*node_policies(settings), *(each for part in PARTS for each in part.node_policies(settings))]
    pods = [*policies(settings), *gpu_node_policies(settings), *pod_security_policies(settings)]
    declared = [*pods, *nodes]
    args = GpuAdmissionArgs(install.target, declared, list(install.namespaces.values()))
    return GpuAdmission(f"{common.name}-gpu-admission", args, common.protected)
