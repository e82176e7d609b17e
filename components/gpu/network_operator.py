"""NVIDIA's Network Operator, and the policy that says what it installs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog.network_operator import (
    API_VERSION,
    KIND,
    NAMESPACE,
    NETWORK_KIND,
    POLICY,
    POOL_API_VERSION,
    POOL_KIND,
    RELEASE,
)
from physical_ai.planning.network_operator import NetworkOperatorPlan
from physical_ai.settings.models.tree import ChartSourceName

TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class NetworkOperatorArgs:
    """`after`: the release with Node Feature Discovery, whose kinds the chart's rule is of."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: NetworkOperatorPlan
    charts: ChartSourceName
    after: Sequence[pulumi.Resource]


class NetworkOperator(pulumi.ComponentResource):
    """The release, the policy, and the networks of Pods; each is deleted before what it needs.

    Attributes:
        release: of the chart.
        installed: the release by its name.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: NetworkOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:NetworkOperator", name, {}, opts)
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            **release_options(args.plan.chart, args.charts),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, *args.after]),
        )
        affinity = args.plan.policy["nodeAffinity"]
        policy = kubernetes.apiextensions.CustomResource(
            f"{name}-policy",
            api_version=API_VERSION,
            kind=KIND,
            metadata={"name": POLICY},
            # Known only when the release is, as in `components.gpu.drivers`.
            spec={**args.plan.policy, "nodeAffinity": self.release.status.apply(lambda _: affinity)},
            opts=args.target.options(self, [self.release]),
        )
        self._declare_networks(name, args, policy)
        self.installed = {RELEASE: InstalledRelease(self.release, args.plan.chart.version, NAMESPACE)}
        self.register_outputs({"version": args.plan.chart.version})

    def _declare_networks(self, name: str, args: NetworkOperatorArgs, policy: pulumi.Resource) -> None:
        """After the policy, whose controller brings the kind IPPool. The Kubernetes provider tries again while a kind
        is not there yet (pulumi/pulumi-kubernetes provider/pkg/await/await.go, Creation)."""
        for kind, api_version, specs, namespace in (
            (POOL_KIND, POOL_API_VERSION, args.plan.address_pools, NAMESPACE),
            (NETWORK_KIND, API_VERSION, args.plan.networks, None),
        ):
            for key, spec in specs.items():
                kubernetes.apiextensions.CustomResource(
                    f"{name}-{kind.lower()}-{key}",
                    api_version=api_version,
                    kind=kind,
                    metadata={"name": key, **({"namespace": namespace} if namespace else {})},
                    spec=spec,
                    opts=args.target.options(self, [policy]),
                )
