"""Component of the Network Operator, of the NicClusterPolicy that determines which drivers and plugins the operator
installs, and of the networks of Pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.chart_part import ChartPart
from parts.network_operator.plan import RELEASE


class NetworkOperator(ChartPart):
    """The Network Operator's release, the NicClusterPolicy and the networks of Pods; a destroy deletes them in the
    reverse order.
    """

    def after(self) -> None:
        """Declares the NicClusterPolicy, then the networks.

        The operator installs the CRD of the kind IPPool only because of the policy. Pulumi's Kubernetes provider
        repeats the creation of an object while its kind does not exist yet (pulumi/pulumi-kubernetes
        provider/pkg/await/await.go, Creation).
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
