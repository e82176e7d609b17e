"""The namespaces the platform installs into, with their Pod Security levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.planning import manifests

if TYPE_CHECKING:
    from pulumi_kubernetes.meta.v1 import ObjectMetaArgsDict


@dataclass(frozen=True)
class NamespacesArgs:
    """Inputs of `Namespaces`. `without` are namespaces in the manifest that this stack does not need."""

    target: ClusterTarget
    without: Collection[str] = ()
    found: Collection[str] = ()
    """Namespaces that existed before the stack: the stack reads them, and neither changes nor deletes them."""


class Namespaces(pulumi.ComponentResource):
    """The platform's namespaces.

    In a cluster that the stack created, they are deleted with the cluster, so a destroy needs no API server. In an
    existing cluster they are deleted after their contents.
    """

    namespaces: dict[str, kubernetes.core.v1.Namespace]

    def __init__(self, name: str, args: NamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Namespaces", name, {}, opts)
        self.namespaces = {
            manifest["metadata"]["name"]: self._declared(f"{name}-{manifest['metadata']['name']}", manifest, args)
            for manifest in manifests.namespaces()
            if manifest["metadata"]["name"] not in args.without
        }
        self.register_outputs({"namespaces": sorted(self.namespaces)})

    def _declared(self, name: str, manifest: Mapping[str, Any], args: NamespacesArgs) -> kubernetes.core.v1.Namespace:
        own, options = str(manifest["metadata"]["name"]), args.target.options(self)
        if own in args.found:
            return kubernetes.core.v1.Namespace.get(name, own, options)
        metadata = cast("ObjectMetaArgsDict", _marked(manifest["metadata"], args.target.labels))
        return kubernetes.core.v1.Namespace(name, metadata=metadata, opts=options)


def _marked(metadata: Mapping[str, Any], labels: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    """Returns `metadata` with `labels` added, which mark a namespace in an existing cluster as created by this
    stack.
    """
    return {**metadata, "labels": {**metadata.get("labels", {}), **labels}}
