"""Names that this project gives to the objects that it installs, for all readers in a cluster."""

from __future__ import annotations

DRIVER_LABEL = "physical-ai/gpu-driver"
"""Carried by the nodes of every GPU pool; its value is the driver source."""
GRID_AGENT = "gpu-grid-driver-installer"
"""DaemonSet of the agent that installs GRID drivers; also the name of its other objects, or its first part."""
GRID_DRIVER_READY = "GridDriverReady"
"""The condition with which it reports a node's state (agents/grid_driver/grid_agent/facts.py)."""
GRID_DRIVER_WANTED = "physical-ai/grid-driver-wanted"
"""Annotation of its Pods: the document that the agent works from, as of the Pod's creation."""
REPAIR_LABEL = "physical-ai/repair"
"""Label of the ConfigMaps that record repairs; its value is the pool."""
