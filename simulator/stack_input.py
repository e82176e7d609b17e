"""What the simulator is given of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class NodeClass:
    """Nodes of one kind in a cluster that exists already."""

    name: str
    server: str
    """As the catalogue calls it."""
    count: int
    labels: Mapping[str, str]
    """Set by whoever installed the cluster."""
    taints: tuple[str, ...] = ()
    host_driver: str = ""
    """Version of the driver on the host; empty without one."""


@dataclass(frozen=True)
class ExistingClusterInput:
    """A cluster that exists before the stack is deployed in it, which the simulator has to make."""

    context: str
    """Of the kubeconfig."""
    classes: tuple[NodeClass, ...]


@dataclass(frozen=True)
class StackInput:
    """A stack file with its overlays applied, and what its secrets are in a simulation."""

    stack: str
    config: Mapping[str, Any]
    """Values by full key, as `physical-ai:pools`."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name. Real ones are not used."""
    record: bool = False
    """Whether the stack records the past, so that Azure is simulated as it was: retired sizes and versions included."""
    existing_cluster: ExistingClusterInput | None = None
    """None of a stack that creates its cluster itself."""
