"""The order in which the cluster autoscaler grows pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare


@dataclass(frozen=True)
class AutoscalerOrderArgs:
    target: ClusterTarget
    objects: Sequence[Mapping[str, Any]]
    """The ConfigMap with the priorities."""


class AutoscalerOrder(pulumi.ComponentResource):
    """ConfigMap by which AKS' autoscaler adds Spot nodes first, and on-demand nodes where Azure has no Spot machine.

    It is deleted after the cluster's profile has changed, because no pool grows while the profile asks for it in vain.
    """

    def __init__(self, name: str, args: AutoscalerOrderArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:AutoscalerOrder", name, {}, opts)
        declared = declare(name, self, args.target, args.objects)
        self.register_outputs({"objects": len(declared)})
