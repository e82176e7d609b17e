"""Nodes of GPU pools that are kept ready for work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.planning.warm_nodes import WarmNodes as WarmNodesPlan


@dataclass(frozen=True)
class WarmNodesArgs:
    target: ClusterTarget
    plan: WarmNodesPlan
    after: Sequence[pulumi.Resource]
    """KAI's release, which brings the kind Queue, and the namespace of the Pods."""


class WarmNodes(pulumi.ComponentResource):
    """Pods that hold whole nodes at a low priority, with the queue from which KAI reclaims their GPUs for work."""

    def __init__(self, name: str, args: WarmNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:WarmNodes", name, {}, opts)
        queue = args.plan.queue
        declared = kubernetes.apiextensions.CustomResource(
            f"{name}-queue",
            api_version=queue["apiVersion"],
            kind=queue["kind"],
            metadata=queue["metadata"],
            spec=queue["spec"],
            opts=args.target.options(self, args.after),
        )
        objects = declare(name, self, args.target, args.plan.objects, after=[declared, *args.after])
        self.register_outputs({"objects": len(objects)})
