"""Settings of the kubelets on a pool's nodes: alignment of resources by NUMA node."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from physical_ai.settings.models.base import Model

TopologyPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]
REFUSING: tuple[TopologyPolicy, ...] = ("restricted", "single-numa-node")
"""Policies with which the kubelet refuses a Pod whose resources it cannot align (Kubernetes docs,
topology-manager).
"""


class Kubelet(Model):
    """Configuration of a pool's kubelets by AKS. Immutable: a change replaces the pool."""

    topology_manager_policy: TopologyPolicy = Field(
        default="none",
        description="Placement by the kubelet of the GPUs, adapters and exclusive CPUs of a Pod on NUMA nodes."
        " best-effort: together where it can. restricted: it rejects a Pod whose request would fit on as few"
        " NUMA nodes as it needs, and does not now. single-numa-node: it rejects every Pod that needs more"
        " than one.",
    )
    cpu_manager_policy: Literal["none", "static"] = Field(
        default="none",
        description="static: a container with whole CPUs as both request and limit, in a Pod of class Guaranteed, has"
        " them for itself. Without it the topology manager aligns devices, and no CPUs.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.topology_manager_policy == self.cpu_manager_policy == "none":
            raise ValueError("is empty; write topologyManagerPolicy, cpuManagerPolicy or both, or leave it out")
        return self
