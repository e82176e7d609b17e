"""Facts about a stack for the rules. `physical_ai.settings.facts.telemetry` derives them from the settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class PoolFacts:
    """One GPU pool."""

    name: str
    resources: Mapping[str, int]
    """Resources of one node (`nvidia.com/gpu`). Empty: no GPUs are expected."""
    gpus: int
    """GPUs of one node, as DCGM counts them."""
    most: int
    """Maximum number of nodes."""
    autoscaled: bool
    virtual: bool
    """True for vGPUs, which report fewer fields."""
    grid: bool
    """True where the GRID agent installs the driver."""
    instances: int = 0
    """MIG instances of one node that the guest cuts; 0 without."""
    shares: int = 1
    """Pods that can share a GPU, or an instance."""
    infiniband: bool = False
    """True where the nodes have InfiniBand."""
    nvlink: bool = False
    """True where the GPUs are connected by NVLink switches."""
    claims: bool = False
    """True where Pods get the GPUs by claims. Then nodes offer no resource; the GPUs are there all the same."""
    amd: bool = False
    """True for AMD's GPUs, which report through an exporter of their own."""
    least: int = 0
    """Minimum number of nodes."""
    usd: float | None = None
    """List price of an hour of one GPU resource of a node; None without a price."""


@dataclass(frozen=True)
class Override:
    """A change of one rule by the settings."""

    threshold: float | None = None
    enabled: bool = True


@dataclass(frozen=True)
class Parameters:
    """Values for the rules of one stack."""

    pools: tuple[PoolFacts, ...]
    exporter: str
    """Version of the DCGM exporter."""
    counters: frozenset[str]
    """Fields in the exporter's CSV. A rule that needs another one is left out."""
    pool_label: str
    """Label of nodes with the name of their pool."""
    operator_namespace: str
    osmo_namespace: str | None
    """Namespace of OSMO's agents; None without them."""
    kai_namespace: str
    kai_scheduler: str
    runbooks: str
    """Address of the folder with the page of the alerts; ends with a slash."""
    osmo_service: bool = False
    """True where OSMO's service runs in the cluster, and its metrics are collected."""
    azure: bool = True
    """True for AKS, on Azure's machines; False for an existing cluster anywhere."""
    slurm_namespace: str = "slurm"
    """Namespace of Slurm's daemons, which hold all GPUs of their nodes."""
    quarantines: bool = False
    """True where NVSentinel may take nodes out of service, and its metrics are collected."""
    overrides: Mapping[str, Override] = field(default_factory=lambda: MappingProxyType({}))


def any_of(texts: Iterable[str]) -> str:
    """A regular expression for any of these expressions; matches nothing if there are none."""
    return "|".join(texts) or "none^"


def metric_resource(resource: str) -> str:
    """The label value that kube-state-metrics gives to a resource.

    >>> metric_resource("nvidia.com/mig-1g.12gb")
    'nvidia_com_mig_1g_12gb'
    """
    return re.sub(r"[^a-zA-Z0-9_]", "_", resource)
