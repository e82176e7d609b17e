"""Simulation of SchedMD's slurm-operator, and of Slurm as far as its nodes have states.

The objects that it creates for its resources, when it drains a node, and what it does not change follow
SlinkyProject/slurm-operator: internal/builder (objects), internal/controller/nodeset (Pods, cordons, rolling updates),
pkg/conditions (states).
"""

from __future__ import annotations

from simulator.slurm.live import SlurmOperator

__all__ = ["SlurmOperator"]
