"""Plan of the GPU Operator, from files and settings: chart values, driver resources, ConfigMaps.

>>> from physical_ai.settings import load
>>> load("dev-westus2").plan.gpu.values["mig"]
{'strategy': 'single'}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from physical_ai.planning.gpu_operator.config_maps import MIG_LAYOUTS, POOL_CONFIGS, config_maps
from physical_ai.planning.gpu_operator.drivers import DriverResource, driver_resources
from physical_ai.planning.gpu_operator.files import CHART, read_files
from physical_ai.planning.gpu_operator.values import chart_values
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

__all__ = [
    "CHART",
    "MIG_LAYOUTS",
    "POOL_CONFIGS",
    "DriverResource",
    "GpuPlan",
    "gpu_plan",
]


@dataclass(frozen=True)
class GpuPlan:
    """Everything that a stack installs for the GPU Operator."""

    values: Mapping[str, Any]
    """Values of the chart."""
    drivers: Mapping[str, DriverResource]
    """NVIDIADriver resources by pool; empty where a ClusterPolicy owns the drivers."""
    config_maps: Mapping[str, Mapping[str, str]]
    """Data of ConfigMaps by name."""


def gpu_plan(settings: Settings, root: FilePath) -> tuple[GpuPlan, list[Fault]]:
    """Plan of the GPU Operator for a stack, and the faults of the files in `gpu-operator/` below `root`."""
    files, faults = read_files(settings, root)
    maps, found = config_maps(settings, files)
    faults += found
    values, found = chart_values(settings, files, maps)
    faults += found
    drivers, found = driver_resources(settings, files, maps)
    faults += found
    return GpuPlan(values, drivers, maps), faults
