"""Checks of GPU nodes that do not need the command `physai accept`: CronJobs that are suspended, or run on a
schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare


@dataclass(frozen=True)
class AcceptanceArgs:
    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    objects: Sequence[Mapping[str, Any]]
    """The CronJobs, and the objects that they need."""


class Acceptance(pulumi.ComponentResource):
    """CronJobs of `physical_ai.planning.acceptance`. Their Pods have no rights in the cluster."""

    def __init__(self, name: str, args: AcceptanceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Acceptance", name, {}, opts)
        declared = declare(name, self, args.target, args.objects, after=[args.namespace])
        self.register_outputs({"objects": len(declared)})
