"""Cleanup for a cluster that remains after the stack is destroyed: a Job removes the objects that the stack's Helm
releases leave behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.planning.cleanup import CHART, RELEASE, CleanupPlan

TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class ClusterCleanupArgs:
    """Inputs of `ClusterCleanup`. `found` describes the objects that the cluster had before the stack."""

    target: ClusterTarget
    plan: CleanupPlan
    found: Mapping[str, Any]


class ClusterCleanup(pulumi.ComponentResource):
    """Helm release whose chart has only hooks: its deletion runs the cleanup Job.

    The release has to be created before everything else in the cluster, so that it is deleted last.

    Attributes:
        release: the Helm release. Its value `found` lists the objects that the cluster had before the first deployment,
            and never changes.
    """

    release: kubernetes.helm.v3.Release

    def __init__(self, name: str, args: ClusterCleanupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:ClusterCleanup", name, {}, opts)
        metadata = args.plan.namespace["metadata"]
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata={"name": metadata["name"], "labels": {**metadata["labels"], **args.target.labels}},
            opts=args.target.options(self),
        )
        options = args.target.options(self, [namespace])
        # Objects that appear after the first deployment are the stack's own.
        options.ignore_changes = ["values.found"]
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=metadata["name"],
            chart=CHART,
            values={**args.plan.values, "found": dict(args.found)},
            atomic=False,
            cleanup_on_fail=False,
            create_namespace=False,
            timeout=TIMEOUT_SECONDS,
            opts=options,
        )
        self.register_outputs({})
