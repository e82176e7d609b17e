"""A real Kubernetes control plane on loopback, its nodes and pods simulated by KWOK."""

from simulator.control_plane.plane import SLOTS_FILE, ControlPlane

__all__ = ["SLOTS_FILE", "ControlPlane"]
