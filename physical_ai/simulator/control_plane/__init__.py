"""A real Kubernetes control plane on loopback, its nodes and pods simulated by KWOK."""

from physical_ai.simulator.control_plane.plane import SLOTS_FILE, ControlPlane

__all__ = ["SLOTS_FILE", "ControlPlane"]
