"""Nodes of the GPU pools in a simulated cluster, and the GPUs that they offer."""

from __future__ import annotations

from collections.abc import Callable

from physical_ai.settings import Settings
from tests.support.gpu_settings import given_settings
from tests.support.simulated_cluster import SimulatedCluster

TOOLKIT, VALIDATOR = "nvidia-container-toolkit-daemonset", "nvidia-operator-validator"

PLUGIN, DRIVER = "nvidia-device-plugin-daemonset", "nvidia-gpu-driver"

GPU = "nvidia.com/gpu"

GRID_DRIVER = "595.91.07"


def stack(*assignments: str) -> Settings:
    return given_settings(*assignments).settings


def has_gpus(cluster: SimulatedCluster, node: str, **expected: int) -> Callable[[], bool]:
    wanted = {GPU: 1} if not expected else {f"nvidia.com/{key}": count for key, count in expected.items()}
    return lambda: cluster.gpus(node) == wanted


def prepared(cluster: SimulatedCluster, settings: Settings) -> tuple[str, str]:
    """A node of each pool, the vGPU one with its driver on the host."""
    (h100,) = cluster.pool(settings, "h100gpu")
    (rtx,) = cluster.pool(settings, "rtxprogpu", host=GRID_DRIVER)
    return h100, rtx
