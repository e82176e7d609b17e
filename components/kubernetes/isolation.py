"""Network policies of the platform's own namespaces: which Pods may connect to them, and which destinations their Pods
may connect to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare


@dataclass(frozen=True)
class IsolationArgs:
    target: ClusterTarget
    policies: Sequence[Mapping[str, Any]]
    """The NetworkPolicies. For each namespace, one policy denies all traffic, and further policies allow the traffic
    that the platform needs.
    """
    after: Sequence[pulumi.Resource]
    """Namespaces of the policies, which must exist before the policies."""


class Isolation(pulumi.ComponentResource):
    """NetworkPolicies of the namespaces that releases of the platform are installed into."""

    def __init__(self, name: str, args: IsolationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Isolation", name, {}, opts)
        declared = declare(name, self, args.target, args.policies, after=args.after)
        self.register_outputs({"policies": len(declared)})
