"""A preview, and what it starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.cli.changes import Run

OPERATOR = "gpu-operator"


@dataclass(frozen=True)
class Deployed:
    """What is deployed before a preview."""

    exists: bool
    operator_version: str | None = None
    """The GPU Operator's version."""
    pools: tuple[Mapping[str, Any], ...] = ()
    """As Azure Resource Manager describes them."""


@dataclass(frozen=True)
class Preview:
    """What a preview would change, and what it starts from."""

    run: Run
    nodes: Mapping[str, int]
    """How many nodes each pool has now."""
    deployed: Deployed
    unexpected: bool = False
    """There are changes, and the command line expects none."""
