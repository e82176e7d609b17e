"""A model of SchedMD's slurm-operator, and of Slurm as far as its nodes have states.

What it makes of its resources, when it drains a node, and what it leaves alone follow SlinkyProject/slurm-operator:
internal/builder (objects), internal/controller/nodeset (Pods, cordons, rolling updates), pkg/conditions (states).
"""

from __future__ import annotations

from simulator.slurm.live import SlurmOperator

__all__ = ["SlurmOperator"]
