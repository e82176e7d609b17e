"""Simulation of AMD's GPU operator, of Kernel Module Management, and of nodes with AMD GPUs.

Sources: ROCm/gpu-operator helm-charts-k8s, docs and the operator's debugging guide (references/architecture.md and
failure_patterns.md), 2026-11-23. No part of it was recorded from a running operator.
"""

from __future__ import annotations

from simulator.amd.live import AmdStack

__all__ = ["AmdStack"]
