"""The namespaces the platform installs into, with their Pod Security levels."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components import manifests
from components.inside import Inside


@dataclass(frozen=True)
class NamespacesArgs:
    inside: Inside


class Namespaces(pulumi.ComponentResource):
    """Namespaces outlive what runs in them, and go with the cluster, so that a destroy needs no API server."""

    namespaces: dict[str, kubernetes.core.v1.Namespace]

    def __init__(self, name: str, args: NamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Namespaces", name, {}, opts)
        self.namespaces = {
            manifest["metadata"]["name"]: kubernetes.core.v1.Namespace(
                f"{name}-{manifest['metadata']['name']}",
                metadata=manifest["metadata"],
                opts=args.inside.options(self),
            )
            for manifest in manifests.load("namespaces.yaml")
        }
        self.register_outputs({"namespaces": sorted(self.namespaces)})
