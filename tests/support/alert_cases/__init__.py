"""Cases of each alert in which it fires, and cases in which it nearly fires: a module for each subject of alerts."""

from __future__ import annotations

from tests.support.alert_cases import amd, gpu_faults, gpu_operation, grid_driver, infiniband, nodes, scheduling
from tests.support.alert_cases.case import Case

__all__ = ["CASES", "Case"]

CASES = (
    *amd.CASES,
    *gpu_faults.CASES,
    *gpu_operation.CASES,
    *grid_driver.CASES,
    *infiniband.CASES,
    *nodes.CASES,
    *scheduling.CASES,
)
