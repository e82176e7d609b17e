"""The namespaces the platform installs into, with their Pod Security levels."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components import manifests


@dataclass(frozen=True)
class NamespacesArgs:
    provider: kubernetes.Provider
    cluster: pulumi.Resource
    retry: pulumi.ErrorHook


class Namespaces(pulumi.ComponentResource):
    """Namespaces outlive what runs in them, and go with the cluster, so that a destroy needs no API server."""

    namespaces: dict[str, kubernetes.core.v1.Namespace]

    def __init__(self, name: str, args: NamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Namespaces", name, {}, opts)
        self.namespaces = {
            manifest["metadata"]["name"]: kubernetes.core.v1.Namespace(
                f"{name}-{manifest['metadata']['name']}",
                metadata=manifest["metadata"],
                opts=pulumi.ResourceOptions(
                    parent=self,
                    provider=args.provider,
                    # Both: deleted_with alone leaves an object in state that a replaced cluster does not have.
                    deleted_with=args.cluster,
                    replace_with=[args.cluster],
                    # The deployer's role on the cluster is minutes old when the first object is made.
                    hooks=pulumi.ResourceHookBinding(on_error=[args.retry]),
                ),
            )
            for manifest in manifests.load("namespaces.yaml")
        }
        self.register_outputs({"namespaces": sorted(self.namespaces)})
