"""Diagnosis of GPU nodes: for each pool whether its nodes offer their GPUs, and which gate is closed, why, and how to
open it.

`diagnose` is pure: plain Kubernetes objects in, a report for each pool out. `read_reports` reads the objects; `wait`
reads until all gates are open or a bound is reached. Nothing here writes to a cluster, except what `osmo` deletes.
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
