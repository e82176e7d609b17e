"""Whether every pool's nodes offer their GPUs, and where they do not: which gate is shut, why, and what opens it.

`diagnose` is pure: plain Kubernetes objects in, a report for each pool out. `look` reads the objects, `wait` looks
until all is open or a bound is reached. Nothing here writes to a cluster.
"""

from __future__ import annotations

from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.expected import expected_pools
from physical_ai.readiness.model import Cluster, Expected, Report, Shut
from physical_ai.readiness.reader import Get, Unreachable, Unusable, look
from physical_ai.readiness.waiting import Outcome, wait

__all__ = [
    "Cluster",
    "Expected",
    "Get",
    "Outcome",
    "Report",
    "Shut",
    "Unreachable",
    "Unusable",
    "diagnose",
    "expected_pools",
    "look",
    "wait",
]
