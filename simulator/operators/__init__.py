"""Operators outside the GPU stack, and those parts of a kubelet's behaviour on which charts rely."""

from __future__ import annotations

from simulator.operators.live import Operators

__all__ = ["Operators"]
