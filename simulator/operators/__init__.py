"""Operators and kubelet behaviour of the simulated cluster outside the GPU stack, on which charts rely."""

from __future__ import annotations

from simulator.operators.live import Operators

__all__ = ["Operators"]
