"""Inputs of the simulator that describe a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class NodeClass:
    """Group of equal nodes in an existing cluster: `count` servers of one model."""

    name: str
    server: str
    """Name of the server model in the catalogue."""
    count: int
    labels: Mapping[str, str]
    """Labels that the installer of the cluster has set."""
    taints: tuple[str, ...] = ()
    host_driver: str = ""
    """Version of the GPU driver that is installed on the host; empty if none is installed."""


@dataclass(frozen=True)
class ExistingClusterInput:
    """Cluster that exists before the stack is deployed into it. The simulator creates this cluster first."""

    context: str
    """Name of the kubeconfig's context for the cluster."""
    classes: tuple[NodeClass, ...]


@dataclass(frozen=True)
class StackInput:
    """A stack file with its overlays applied, and the values of its secrets in a simulation."""

    stack: str
    config: Mapping[str, Any]
    """Values of the configuration by full key, such as `physical-ai:pools`."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of secrets in the simulation, by name. Real secrets are not used."""
    record: bool = False
    """True for a recording of an earlier state. Azure is then simulated with the VM sizes and versions that it has
    retired since.
    """
    existing_cluster: ExistingClusterInput | None = None
    """Existing cluster of the stack; None for a stack that creates its cluster itself."""
