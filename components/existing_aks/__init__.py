"""The GPU software for an AKS cluster that another program has created: components with arguments of their own.

They need no stack files, layers or settings of a platform: docs/existing-aks.md.
"""

from __future__ import annotations

from components.aks.gpu_pool import GpuPool, GpuPoolArgs
from components.aks.kubernetes_access import KubernetesAccess, KubernetesAccessArgs
from components.existing_aks.gpu_stack import GpuStack, GpuStackArgs
from components.existing_aks.grid_driver import GridDriverAgent, GridDriverAgentArgs
from components.existing_aks.osmo import OsmoBackend, OsmoBackendArgs
from components.existing_aks.target import AksTarget
from physical_ai.settings import Driver, DriverSource, OsDisk, Pool, Priority, Scale, Sharing, Spot

__all__ = [
    "AksTarget",
    "Driver",
    "DriverSource",
    "GpuPool",
    "GpuPoolArgs",
    "GpuStack",
    "GpuStackArgs",
    "GridDriverAgent",
    "GridDriverAgentArgs",
    "KubernetesAccess",
    "KubernetesAccessArgs",
    "OsDisk",
    "OsmoBackend",
    "OsmoBackendArgs",
    "Pool",
    "Priority",
    "Scale",
    "Sharing",
    "Spot",
]
