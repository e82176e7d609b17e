"""A preview, and the state that it starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.cli.changes import Run

OPERATOR = "gpu-operator"


@dataclass(frozen=True)
class Deployed:
    """Deployed state before a preview."""

    exists: bool
    operator_version: str | None = None
    """The GPU Operator's version."""
    pools: tuple[Mapping[str, Any], ...] = ()
    """Pools as Azure Resource Manager describes them."""


@dataclass(frozen=True)
class Preview:
    """Changes of a preview, and the deployed state before them."""

    run: Run
    nodes: Mapping[str, int]
    """Number of nodes that each pool has now."""
    deployed: Deployed
    unexpected: bool = False
    """True where there are changes, and the command line expects none."""
