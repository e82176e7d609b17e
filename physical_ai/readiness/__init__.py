"""Diagnosis of GPU nodes: for each pool, whether its nodes offer their GPUs, and otherwise which gate is closed, why,
and how to open it.

`diagnose` is a pure function of plain Kubernetes objects. `read_reports` reads the objects; `wait` reads until all
gates are open or a time limit is reached. Nothing here writes to a cluster, except that `osmo` deletes workflows.
"""

from __future__ import annotations

from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.expected import expected_pools
from physical_ai.readiness.model import ClosedGate, Cluster, Expected, Outcome, Report
from physical_ai.readiness.reader import Get, Unreachable, Unusable, read_reports
from physical_ai.readiness.waiting import wait

__all__ = [
    "ClosedGate",
    "Cluster",
    "Expected",
    "Get",
    "Outcome",
    "Report",
    "Unreachable",
    "Unusable",
    "diagnose",
    "expected_pools",
    "read_reports",
    "wait",
]
