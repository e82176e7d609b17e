"""Acceptance checks of GPU nodes as CronJobs, which run without the command `physai accept`: on a schedule or, if they
are suspended, as Jobs that a user creates from them.
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
    """CronJobs that check GPU nodes, with the objects that they need. Their Pods have no rights in the cluster."""

    def __init__(self, name: str, args: AcceptanceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Acceptance", name, {}, opts)
        declared = declare(name, self, args.target, args.objects, after=[args.namespace])
        self.register_outputs({"objects": len(declared)})
