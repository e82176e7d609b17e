"""Simulation of the operators that do not belong to the GPU stack, and of the kubelet's behaviour that charts rely
on.
"""

from __future__ import annotations

from simulator.operators.live import Operators

__all__ = ["Operators"]
