"""Rights of the identities that compare the cluster with the program every night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare

OBJECTS = "physical-ai-drift-reader"


@dataclass(frozen=True)
class DriftReaderArgs:
    target: ClusterTarget
    objects: Sequence[Mapping[str, Any]]
    """The ClusterRole and its binding; none in a stack that names no drift reader."""


class DriftReader(pulumi.ComponentResource):
    """Rights for drift readers: they may read those kinds of objects that the program declares and that the role AKS
    RBAC Reader does not cover.
    """

    def __init__(self, name: str, args: DriftReaderArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:DriftReader", name, {}, opts)
        declared = declare(name, self, args.target, args.objects, common=OBJECTS)
        self.register_outputs({"objects": len(declared)})
