"""The OpenTelemetry Collector, which takes traces from workflows and sends them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.catalog.otel import NAMESPACE, RELEASE, SECRET
from physical_ai.planning.collector import CollectorPlan
from physical_ai.settings.models.tree import ChartSourceName
from physical_ai.settings.secrets import Secrets

TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class TraceCollectorArgs:
    """`namespaces` are its own and the workflows'."""

    target: ClusterTarget
    namespaces: list[pulumi.Resource]
    charts: ChartSourceName
    plan: CollectorPlan
    secrets: Secrets


class TraceCollector(pulumi.ComponentResource):
    """The release, before it a Secret for its destination, and who may reach whom. Workflows alone reach it."""

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: TraceCollectorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:TraceCollector", name, {}, opts)
        before: list[pulumi.Resource] = [
            *args.namespaces,
            *declare(name, self, args.target, args.plan.policies, after=args.namespaces),
        ]
        if args.plan.secrets:
            secret = kubernetes.core.v1.Secret(
                f"{name}-destination",
                metadata={"name": SECRET, "namespace": NAMESPACE},
                string_data={variable: args.secrets[secret] for variable, secret in args.plan.secrets.items()},
                opts=args.target.options(self, args.namespaces),
            )
            before.append(secret)
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            **release_options(args.plan.chart, args.charts),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, before),
        )
        self.installed = {RELEASE: InstalledRelease(self.release, args.plan.chart.version, NAMESPACE)}
        self.register_outputs({"version": args.plan.chart.version})
