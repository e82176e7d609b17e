"""Simulation of SchedMD's slurm-operator, and of the states that Slurm gives its nodes.

The simulation creates the same objects as SlinkyProject/slurm-operator, drains nodes in the same cases, and leaves the
same things unchanged. Read there: internal/builder (objects), internal/controller/nodeset (Pods, cordons, rolling
updates), pkg/conditions (states).
"""

from __future__ import annotations

from simulator.slurm.live import SlurmOperator

__all__ = ["SlurmOperator"]
