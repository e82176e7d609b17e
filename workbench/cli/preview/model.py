"""A preview, and the deployed state that it starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.cli.changes import Run

OPERATOR = "gpu-operator"


@dataclass(frozen=True)
class Deployed:
    """Deployed state of a stack from which a preview starts."""

    exists: bool
    operator_version: str | None = None
    """Version of the GPU Operator; None if it is not installed."""
    pools: tuple[Mapping[str, Any], ...] = ()
    """Node pools in the form of Azure Resource Manager."""


@dataclass(frozen=True)
class Preview:
    """Changes of a preview, and the deployed state before them."""

    run: Run
    nodes: Mapping[str, int]
    """Present number of nodes of each pool."""
    deployed: Deployed
    unexpected: bool = False
    """True if there are changes although the command line expects none."""
