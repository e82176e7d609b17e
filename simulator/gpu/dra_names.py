"""Names that the DRA driver for NVIDIA GPUs uses, and the attributes with which it describes GPUs. This module repeats
them from the driver's source and imports nothing from the deployed code.

Source: kubernetes-sigs/dra-driver-nvidia-gpu at 95932046 of 2026-08-07: cmd/gpu-kubelet-plugin/main.go (the driver's
name, typical roots), cmd/gpu-kubelet-plugin/deviceinfo.go (attributes and capacity), and in vendor/ go-nvlib's
pkg/nvlib/device/device.go (names of architectures); read 2026-11-28. The driver passes on what NVML says of a GPU:
names and memory are as nvidia-smi prints them in public repositories, and for the H100 with 80 GB in the driver's own
site/content/docs/guides/gpu-allocation/allocating-gpus.md. Compute capabilities: NVIDIA, CUDA GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DRIVER = "gpu.nvidia.com"
"""Name of the driver in ResourceSlices and in allocated claims."""
CONTAINER_ROOT, HOST_ROOT = "/run/nvidia/driver", "/"
"""Root folders of a driver that a container has installed, and of a driver on the host."""


@dataclass(frozen=True)
class Described:
    """Attributes and memory that the DRA driver publishes for one GPU model."""

    architecture: str
    compute_capability: str
    memory_mib: int


DEVICES: Mapping[str, Described] = {
    "NVIDIA H100 80GB HBM3": Described("Hopper", "9.0.0", 81559),
    "NVIDIA H100 NVL": Described("Hopper", "9.0.0", 95830),
    "NVIDIA H200": Described("Hopper", "9.0.0", 143771),
    "NVIDIA A100 80GB PCIe": Described("Ampere", "8.0.0", 81920),
    "NVIDIA B200": Described("Blackwell", "10.0.0", 183359),
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": Described("Blackwell", "12.0.0", 97887),
}
"""Published attributes and memory of each GPU model, by NVML's name of the model. The DRA driver is not simulated for
other models.
"""
