"""Fields that a simulated DCGM exporter reports: their names, and their values on an idle and on a busy GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml

DATA = Path(__file__).parent / "data" / "dcgm.yaml"
XIDS, XID_COUNT = "DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"
HEALTH, DRIVER = "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_FI_DRIVER_VERSION"
CLOCKS = "DCGM_EXP_CLOCK_EVENTS_COUNT"
FREE, USED, RESERVED = "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED"
LICENCE = "DCGM_FI_DEV_VGPU_LICENSE_STATUS"
PROFILING = "DCGM_FI_PROF_"
REASONS = "_REASONS"
"""Ending of the names of fields whose value is a set of bits."""
LINK = "_PCIE_LINK_GEN"
"""Ending of the name of the field with the PCIe generation of a GPU's link. Its value is either the value of an idle
GPU or of a busy GPU, never a mean.
"""
BUSY_MEMORY = 0.7
BY_PROCESS = ("DCGM_FI_DEV_GPU_UTIL", USED)


@dataclass(frozen=True)
class Values:
    """Values of fields, each for an idle and for a busy GPU, and the CSV of the exporter's image."""

    gauges: Mapping[str, Sequence[float]]
    counters: Mapping[str, Sequence[float]]
    csv: str


@cache
def values() -> Values:
    document: dict[str, Any] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return Values(**document)


def default_csv() -> str:
    """The default CSV, which the exporter's image contains."""
    return values().csv


def modelled() -> frozenset[str]:
    """Names of all fields that a simulated GPU can report."""
    own = {XID_COUNT, HEALTH, DRIVER, CLOCKS, FREE, USED, LICENCE}
    return frozenset(own | set(values().gauges) | set(values().counters))
