"""A real Kubernetes control plane on loopback, its nodes and pods simulated by KWOK."""

from physical_ai.simulator.control_plane.plane import METRICS_FILE, SLOTS_FILE, ControlPlane

__all__ = ["METRICS_FILE", "SLOTS_FILE", "ControlPlane"]
