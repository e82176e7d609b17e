"""ConfigMaps that the GPU Operator's operands mount."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as kubernetes


def config_map(
    resource: str, name: str, namespace: str, data: Mapping[str, str], opts: pulumi.ResourceOptions
) -> kubernetes.core.v1.ConfigMap:
    """Declares a ConfigMap under a fixed name, changed in place: Pods mount it, and a protected stack could not
    replace it.
    """
    return kubernetes.core.v1.ConfigMap(resource, metadata={"name": name, "namespace": namespace}, data=data, opts=opts)
