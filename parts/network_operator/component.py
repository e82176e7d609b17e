"""NVIDIA's Network Operator, the policy that says what it installs, and the networks of Pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.chart_part import ChartPart
from parts.network_operator.plan import RELEASE


class NetworkOperator(ChartPart):
    """The release, the policy, and the networks of Pods; each is deleted before what it needs."""

    def after(self) -> None:
        """The policy, then the networks.

        The policy's controller brings the kind IPPool. The Kubernetes provider tries again while a kind is not there
        yet (pulumi/pulumi-kubernetes provider/pkg/await/await.go, Creation).
        """
        given, *networks = self.args.plan.after
        spec = given["spec"]
        known = {**spec, "nodeAffinity": self.known_after(RELEASE, spec["nodeAffinity"])}
        policy = self._object("policy", {**given, "spec": known}, self.releases[RELEASE])
        for item in networks:
            self._object(f"{item['kind'].lower()}-{item['metadata']['name']}", item, policy)

    def _object(self, key: str, item: Mapping[str, Any], after: pulumi.Resource) -> pulumi.Resource:
        return kubernetes.apiextensions.CustomResource(
            f"{self.name}-{key}",
            api_version=item["apiVersion"],
            kind=item["kind"],
            metadata=item["metadata"],
            spec=item["spec"],
            opts=self.options([after]),
        )


COMPONENT = NetworkOperator
