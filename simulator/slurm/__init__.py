"""Simulation of SchedMD's slurm-operator, and of the states that Slurm gives its nodes.

Like SlinkyProject/slurm-operator, the simulation creates the same objects, drains nodes in the same cases, and leaves
the same things unchanged. Sources in that repository: internal/builder (objects), internal/controller/nodeset (Pods,
cordons, rolling updates), pkg/conditions (states).
"""

from __future__ import annotations

from simulator.slurm.live import SlurmOperator

__all__ = ["SlurmOperator"]
