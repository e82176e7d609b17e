"""The supported release of the DRA driver for NVIDIA GPUs, what it demands, and how it describes GPUs."""

from __future__ import annotations

import datetime
from functools import lru_cache

from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text

CHART = "dra-driver-nvidia-gpu"
CHART_VERSION = "0.5.0"
RELEASE = "dra-driver-nvidia-gpu"
KUBELET_PLUGIN = "dra-driver-nvidia-gpu-kubelet-plugin"
"""DaemonSet of the kubelet plugin."""
DRIVER = "gpu.nvidia.com"
"""Name of the driver in ResourceSlices, and of its attributes' domain. This project counts a node's devices by it."""
ANY_GPU_CLASS = "gpu.nvidia.com"
"""The chart's DeviceClass of all whole GPUs."""
OTHER_CLASSES = ("mig.nvidia.com", "vfio.gpu.nvidia.com")
"""The chart's other DeviceClasses of GPUs."""
API_VERSION = "resource.k8s.io/v1"
CONFIG_VERSION = "resource.nvidia.com/v1beta1"
"""API version of the driver's own configuration in claims (kubernetes-sigs/dra-driver-nvidia-gpu
api/nvidia.com/resource)."""
OLDEST_MINOR = 34
"""The Kubernetes minor from which resource.k8s.io/v1 is served (Kubernetes 1.34 release notes)."""
OLDEST_DRIVER = "570.158.01"
"""The oldest NVIDIA driver that works (Azure/AKS#5785)."""


class ClaimDevice(Row):
    """A GPU as the driver describes it."""

    model: Text
    product_name: Text
    architecture: Text
    compute_capability: Text
    memory_mib: int
    unverified: tuple[Text, ...] = ()
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def claim_devices() -> dict[str, ClaimDevice]:
    """The GPUs by model, as the VM sizes name it."""
    found: dict[str, ClaimDevice] = {}
    for data in read_rows(GPU / "claim_devices.yaml"):
        item = row(ClaimDevice, data, f"claim_devices.yaml: {data.get('model')}")
        if item.model in found:
            raise CatalogError(f"claim_devices.yaml: {item.model} is a duplicate")
        found[item.model] = item
    return found
