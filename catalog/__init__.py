"""What exists in the world: VM sizes, regions, prices, Kubernetes minors, and verdicts on combining them.

>>> vm_size("Standard_NC40ads_H100_v5").gpu.memory_gib
94
"""

from __future__ import annotations

from catalog.load import CatalogError, kubernetes_minors, prices, regions, vm_sizes
from catalog.lookup import (
    UnknownName,
    current_name,
    kubernetes_minor,
    nearest,
    price,
    region,
    regions_listing,
    vm_size,
)
from catalog.rows import Gpu, KubernetesMinor, PriceRow, Region, RegionSize, VmSize
from catalog.verdicts import Subject, Verdict, describe, judge

RETIRED = "retired-preview"
"""Lifecycle of a size that no longer deploys; its row names the successor."""

__all__ = [
    "RETIRED",
    "CatalogError",
    "Gpu",
    "KubernetesMinor",
    "PriceRow",
    "Region",
    "RegionSize",
    "Subject",
    "UnknownName",
    "Verdict",
    "VmSize",
    "current_name",
    "describe",
    "judge",
    "kubernetes_minor",
    "kubernetes_minors",
    "nearest",
    "price",
    "prices",
    "region",
    "regions",
    "regions_listing",
    "vm_size",
    "vm_sizes",
]
