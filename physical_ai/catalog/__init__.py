"""Facts about the outside world: VM sizes, regions, prices, Kubernetes minors and GPU software; and rules that judge
combinations of them.

>>> vm_size("Standard_NC40ads_H100_v5").gpu.memory_gib
94
"""

from __future__ import annotations

from physical_ai.catalog.chart_archives import ChecksumMismatch
from physical_ai.catalog.charts import Chart, chart, pinned_charts
from physical_ai.catalog.gpu_load import driver_branches, mig_models, node_images, operator_releases, vgpu_models
from physical_ai.catalog.gpu_lookup import (
    driver_build,
    mig_model,
    newest_release,
    node_image,
    operator_release,
    vgpu_model,
)
from physical_ai.catalog.gpu_rows import (
    DriverBranch,
    DriverBuild,
    DriverKind,
    MigModel,
    ModuleFlavour,
    NodeImage,
    OperatorRelease,
    VgpuModel,
)
from physical_ai.catalog.hardware import Server, machine, machines, server, servers
from physical_ai.catalog.load import CatalogError, kubernetes_minors, prices, regions, vm_sizes
from physical_ai.catalog.lookup import (
    KubernetesPhase,
    UnknownName,
    current_name,
    kubernetes_minor,
    kubernetes_phase,
    nearest,
    price,
    region,
    regions_listing,
    vm_size,
)
from physical_ai.catalog.rows import Gpu, KubernetesMinor, Machine, PriceRow, Region, RegionSize, VmSize
from physical_ai.catalog.verdicts import describe, judge

RETIRED = "retired-preview"
"""Lifecycle of a VM size that can no longer be deployed; its row in the catalogue names the successor."""

__all__ = [
    "RETIRED",
    "CatalogError",
    "Chart",
    "ChecksumMismatch",
    "DriverBranch",
    "DriverBuild",
    "DriverKind",
    "Gpu",
    "KubernetesMinor",
    "KubernetesPhase",
    "Machine",
    "MigModel",
    "ModuleFlavour",
    "NodeImage",
    "OperatorRelease",
    "PriceRow",
    "Region",
    "RegionSize",
    "Server",
    "UnknownName",
    "VgpuModel",
    "VmSize",
    "chart",
    "current_name",
    "describe",
    "driver_branches",
    "driver_build",
    "judge",
    "kubernetes_minor",
    "kubernetes_minors",
    "kubernetes_phase",
    "machine",
    "machines",
    "mig_model",
    "mig_models",
    "nearest",
    "newest_release",
    "node_image",
    "node_images",
    "operator_release",
    "operator_releases",
    "pinned_charts",
    "price",
    "prices",
    "region",
    "regions",
    "regions_listing",
    "server",
    "servers",
    "vgpu_model",
    "vgpu_models",
    "vm_size",
    "vm_sizes",
]
