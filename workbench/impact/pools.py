"""Facts of the node pools before a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PoolFacts:
    """Facts of a node pool, as it is before a change.

    Attributes:
        nodes: Number of nodes.
        gpus: Number of GPUs that a node offers.
        model: Name of the GPU model, for sentences; empty without GPUs.
        vendor: Name of the GPUs' vendor, as in physical_ai/catalog/vendors.py; empty if it is not known.
        driver: Driver source: `operator`, `grid`, `aks`, `host`, or empty without GPUs.
        reservation: Id of the capacity reservation group; empty if there is none.
        surge: Number of extra nodes that an upgrade creates.
    """

    name: str
    nodes: int = 0
    gpus: int = 0
    model: str = ""
    driver: str = ""
    spot: bool = False
    reservation: str = ""
    surge: int = 0
    vendor: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
