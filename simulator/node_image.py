"""What the image of a new GPU node has on it: a driver, where somebody has put one there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.gpu.names import HOST_DRIVER
from simulator.gpu.objects import labels

NodeImage = Callable[[Mapping[str, Any]], dict[str, str]]
"""Node -> annotations that describe its host."""

DRIVER_SOURCE = "physical-ai/gpu-driver"
GRID_TEST_DRIVER = "595.91.07"
"""GRID driver of the prepared image. AKS has no such image: it takes the place of whoever installs the driver."""


def plain_image(node: Mapping[str, Any]) -> dict[str, str]:
    """Azure's own image; what AKS installs on a pool with `gpuProfile.driver: Install` the node says itself."""
    return {}


def prepared_image(node: Mapping[str, Any]) -> dict[str, str]:
    """An image with the GRID driver for pools of driver source `grid`, for as long as nothing installs it there."""
    return {HOST_DRIVER: GRID_TEST_DRIVER} if labels(node).get(DRIVER_SOURCE) == "grid" else {}
