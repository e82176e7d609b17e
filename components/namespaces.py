"""The namespaces the platform installs into, with their Pod Security levels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster_target import ClusterTarget
from physical_ai.settings.plans import manifests


@dataclass(frozen=True)
class NamespacesArgs:
    """`without` are namespaces of the manifest that this stack does not need."""

    target: ClusterTarget
    without: Collection[str] = ()


class Namespaces(pulumi.ComponentResource):
    """Namespaces are deleted after their contents, or with the cluster, so that a destroy needs no API server."""

    namespaces: dict[str, kubernetes.core.v1.Namespace]

    def __init__(self, name: str, args: NamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Namespaces", name, {}, opts)
        self.namespaces = {
            manifest["metadata"]["name"]: kubernetes.core.v1.Namespace(
                f"{name}-{manifest['metadata']['name']}",
                metadata=manifest["metadata"],
                opts=args.target.options(self),
            )
            for manifest in manifests.load("namespaces.yaml")
            if manifest["metadata"]["name"] not in args.without
        }
        self.register_outputs({"namespaces": sorted(self.namespaces)})
