"""Whether every pool's nodes offer their GPUs, and where they do not: which gate is shut, why, and what opens it.

`diagnose` is pure: plain Kubernetes objects in, a report for each pool out. `look` reads the objects, `wait` looks
until all is open or a bound is reached. Nothing here writes to a cluster.
"""

from __future__ import annotations

from gates.diagnosis import diagnose
from gates.expected import expected_pools
from gates.model import Cluster, Expected, Report, Shut
from gates.reader import Get, Unreachable, Unusable, look
from gates.waiting import Outcome, wait

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
