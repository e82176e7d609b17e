"""Explanations of why a Pod, a workflow, a node or a pool does not work. For a Pod, they cover every stage from the
creation of its group to the end of its containers.

`explain` and `doctor` are pure functions from plain Kubernetes objects to explanations, the first cause first.
`read_workloads` reads the objects. The reason why a node lacks GPUs comes from the diagnosis of gates
(`physical_ai.readiness`), which these functions use.
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
