"""Names that this project gives to the objects that it installs, for all programs that read a cluster."""

from __future__ import annotations

DRIVER_LABEL = "physical-ai/gpu-driver"
"""Label of the nodes of every GPU pool; its value is the driver source."""
PLATFORM_LABEL = "physical-ai/platform"
"""Label of the nodes of pools that serve one OSMO platform together; its value is the platform's name."""
GRID_AGENT = "gpu-grid-driver-installer"
"""Name of the DaemonSet of the agent that installs GRID drivers. The agent's other objects have the same name, or a
name that begins with it.
"""
GRID_DRIVER_READY = "GridDriverReady"
"""Type of the condition with which the GRID agent reports a node's state (agents/grid_driver/grid_agent/facts.py)."""
GRID_DRIVER_WANTED = "physical-ai/grid-driver-wanted"
"""Annotation of the GRID agent's Pods with the wanted driver state, as it was when the Pod was created."""
REPAIR_LABEL = "physical-ai/repair"
"""Label of the ConfigMaps that record repairs; its value is the name of the pool."""
ROLL_ANNOTATION = "physical-ai/roll"
"""Annotation of nodes that `physai roll` upgrades one after the other, with the node's progress as JSON."""
