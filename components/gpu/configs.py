"""ConfigMaps that the GPU Operator's operands mount."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as kubernetes


def config_map(
    resource: str, name: str, namespace: str, data: Mapping[str, str], opts: pulumi.ResourceOptions
) -> kubernetes.core.v1.ConfigMap:
    """Declares a ConfigMap under a fixed name. Changes of `data` update it in place, so Pods can go on mounting it by
    name, and no protected resource has to be replaced.
    """
    return kubernetes.core.v1.ConfigMap(resource, metadata={"name": name, "namespace": namespace}, data=data, opts=opts)
