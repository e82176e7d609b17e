"""Facts about a stack that its alerts and recording rules need. `physical_ai.settings.facts.telemetry` derives them
from the settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class PoolFacts:
    """Facts about one GPU pool on which its alert rules and dashboards depend."""

    name: str
    resources: Mapping[str, int]
    """GPU resources of one node, such as `nvidia.com/gpu`; empty where nodes offer no GPU resources."""
    gpus: int
    """Number of GPUs of one node, as DCGM counts them."""
    most: int
    """Maximum number of nodes."""
    autoscaled: bool
    virtual: bool
    """True for vGPUs, which report fewer fields."""
    grid: bool
    """True where the GRID agent installs the driver."""
    instances: int = 0
    """Number of MIG instances that are created inside the VM of one node; 0 if none are created there."""
    shares: int = 1
    """Number of Pods that can share a GPU, or a MIG instance."""
    infiniband: bool = False
    """True where the nodes have InfiniBand."""
    nvlink: bool = False
    """True where the GPUs are connected by NVLink switches."""
    claims: bool = False
    """True if Pods get GPUs through resource claims. The nodes then have GPUs, but `resources` is empty."""
    amd: bool = False
    """True for AMD GPUs, which have an exporter of their own."""
    least: int = 0
    """Minimum number of nodes."""
    usd: float | None = None
    """List price in USD of one GPU resource of a node per hour; None if the price is not known."""


@dataclass(frozen=True)
class Override:
    """Override of one alert by the settings: another threshold, or the alert switched off."""

    threshold: float | None = None
    enabled: bool = True


@dataclass(frozen=True)
class Parameters:
    """Values of one stack that its alerts and recording rules depend on."""

    pools: tuple[PoolFacts, ...]
    exporter: str
    """Version of the DCGM exporter."""
    counters: frozenset[str]
    """Fields in the exporter's CSV. Rules that need other fields are left out."""
    pool_label: str
    """Key of the node label whose value is the name of the node's pool."""
    operator_namespace: str
    osmo_namespace: str | None
    """Namespace of OSMO's agents; None for a stack without the agents."""
    kai_namespace: str
    kai_scheduler: str
    runbooks: str
    """Address of the folder with the page about alerts; it ends with a slash."""
    osmo_service: bool = False
    """True where OSMO's service runs in the cluster, and its metrics are collected."""
    azure: bool = True
    """True for AKS; False for an existing cluster, wherever it is."""
    slurm_namespace: str = "slurm"
    """Namespace of Slurm's daemons, which hold all GPUs of their nodes."""
    quarantines: bool = False
    """True where NVSentinel may take nodes out of service, and its metrics are collected."""
    overrides: Mapping[str, Override] = field(default_factory=lambda: MappingProxyType({}))


def any_of(texts: Iterable[str]) -> str:
    """Regular expression that matches if one of `texts` does; with no texts, an expression that matches nothing."""
    return "|".join(texts) or "none^"


def metric_resource(resource: str) -> str:
    """Label value that kube-state-metrics uses for a resource.

    >>> metric_resource("nvidia.com/mig-1g.12gb")
    'nvidia_com_mig_1g_12gb'
    """
    return re.sub(r"[^a-zA-Z0-9_]", "_", resource)
