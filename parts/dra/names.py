"""The supported release of the DRA driver for NVIDIA GPUs, its names, and the versions that it demands."""

from __future__ import annotations

CHART = "dra-driver-nvidia-gpu"
RELEASE = "dra-driver-nvidia-gpu"
KUBELET_PLUGIN = "dra-driver-nvidia-gpu-kubelet-plugin"
"""Name of the kubelet plugin's DaemonSet."""
DRIVER = "gpu.nvidia.com"
"""Name of the driver in ResourceSlices, and domain of its devices' attributes.

This project counts a node's devices by this name.
"""
ANY_GPU_CLASS = "gpu.nvidia.com"
"""DeviceClass of the chart for all whole GPUs."""
OTHER_CLASSES = ("mig.nvidia.com", "vfio.gpu.nvidia.com")
"""Further DeviceClasses of the chart, for parts of GPUs and for passthrough."""
API_VERSION = "resource.k8s.io/v1"
CONFIG_VERSION = "resource.nvidia.com/v1beta1"
"""API version of the driver's own configuration in claims (kubernetes-sigs/dra-driver-nvidia-gpu
api/nvidia.com/resource)."""
OLDEST_MINOR = 34
"""Minor of Kubernetes 1 from which on resource.k8s.io/v1 is served (Kubernetes 1.34 release notes)."""
OLDEST_DRIVER = "570.158.01"
"""The oldest NVIDIA driver with which the DRA driver works (Azure/AKS#5785)."""
