"""Storage and load balancer of a cluster without a cloud: a release each, and the objects of its own kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.planning.cluster_services import ServicePlan
from physical_ai.settings.models.tree import ChartSourceName

TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class ClusterServicesArgs:
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    plans: Sequence[ServicePlan]
    charts: ChartSourceName


class ClusterServices(pulumi.ComponentResource):
    """The releases, each with its objects after it.

    Attributes:
        installed: the releases, by name.
    """

    installed: dict[str, InstalledRelease]

    def __init__(self, name: str, args: ClusterServicesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:ClusterServices", name, {}, opts)
        self.installed = {}
        for plan in args.plans:
            release = kubernetes.helm.v3.Release(
                f"{name}-{plan.release}",
                name=plan.release,
                namespace=plan.namespace,
                **release_options(plan.chart, args.charts),
                values=plan.values,
                timeout=TIMEOUT_SECONDS,
                opts=args.target.options(self, [args.namespaces[plan.namespace]]),
            )
            self.installed[plan.release] = InstalledRelease(release, plan.chart.version, plan.namespace)
            for item in plan.objects:
                # `apiextensions.CustomResource` has no arguments for fields outside of `spec`.
                pulumi.CustomResource(
                    f"kubernetes:{item['apiVersion']}:{item['kind']}",
                    f"{name}-{plan.release}-{item['kind'].lower()}",
                    dict(item),
                    args.target.options(self, [release]),
                )
        self.register_outputs({"versions": {plan.release: plan.chart.version for plan in args.plans}})
