"""Admission policies for GPU Pods of every origin, and for new GPU nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare


@dataclass(frozen=True)
class GpuAdmissionArgs:
    target: ClusterTarget
    policies: Sequence[Mapping[str, Any]]
    """Admission policies and their bindings."""
    after: Sequence[pulumi.Resource] = ()


class GpuAdmission(pulumi.ComponentResource):
    """Admission policies for GPU Pods that OSMO does not create: they check that such a Pod requests the driver's
    capabilities and selects a pool. With `health.admit: accepted` there is one more policy, which keeps work away from
    new GPU nodes.
    """

    def __init__(self, name: str, args: GpuAdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GpuAdmission", name, {}, opts)
        declared = declare(name, self, args.target, args.policies, after=args.after)
        self.register_outputs({"policies": len(declared)})
