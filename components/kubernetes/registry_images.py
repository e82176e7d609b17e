"""Admission policies that make Pods pull their images only from the stack's registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare


@dataclass(frozen=True)
class RegistryImagesArgs:
    target: ClusterTarget
    policies: Sequence[Mapping[str, Any]]


class RegistryImages(pulumi.ComponentResource):
    """Admission policies that make Pods use images of the stack's registry instead of the images that their specs name.

    They are created before anything else in the cluster, so that no Pod of the platform gets another image.

    Attributes:
        declared: the policies and their bindings.
    """

    declared: list[pulumi.Resource]

    def __init__(self, name: str, args: RegistryImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:RegistryImages", name, {}, opts)
        self.declared = declare(name, self, args.target, args.policies, common="registry-images")
        self.register_outputs({"policies": len(self.declared)})
