"""Explanations for a Pod, a workflow, a node or a pool that does not work, from its group to its container.

`explain` and `doctor` are pure: plain Kubernetes objects in, explanations out, the first cause first. `read_workloads`
reads the objects. What keeps GPUs from a node is the gates' diagnosis (`physical_ai.readiness`), which this one uses.
"""

from __future__ import annotations

from physical_ai.readiness.workloads.declared_pools import declared_pools
from physical_ai.readiness.workloads.explain import UnknownSubject, doctor, explain
from physical_ai.readiness.workloads.model import CauseGroup, DeclaredPool, Explanation, Workloads
from physical_ai.readiness.workloads.read import node_workloads, read_workloads

__all__ = [
    "CauseGroup",
    "DeclaredPool",
    "Explanation",
    "UnknownSubject",
    "Workloads",
    "declared_pools",
    "doctor",
    "explain",
    "node_workloads",
    "read_workloads",
]
