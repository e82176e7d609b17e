"""Operators and kubelets of the simulated cluster that are not the GPU stack's: what charts leave to others to do."""

from __future__ import annotations

from simulator.operators.live import Operators

__all__ = ["Operators"]
