"""The DRA driver for NVIDIA GPUs, and the device classes, namespaces and claims of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.catalog.dra import RELEASE
from physical_ai.planning.claims import ClaimObjects
from physical_ai.planning.dra import DraPlan
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.models.tree import ChartSourceName

TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class DraDriverArgs:
    """`after`: the operator's release, whose Node Feature Discovery labels the nodes that the chart selects."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    charts: ChartSourceName
    plan: DraPlan
    objects: ClaimObjects
    after: Sequence[pulumi.Resource] = ()


class DraDriver(pulumi.ComponentResource):
    """The release beside the GPU Operator. It does not wait for its Pods, which wait for the nodes' driver: the gate of
    the GPUs does, and says why.

    Attributes:
        release: of the chart.
        installed: the release by its name.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: DraDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:DraDriver", name, {}, opts)
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=OPERATOR_NAMESPACE,
            **release_options(args.plan.chart, args.charts, skip_await=True),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, *args.after]),
        )
        self.installed = {RELEASE: InstalledRelease(self.release, args.plan.chart.version, OPERATOR_NAMESPACE)}
        self.register_outputs({"version": args.plan.chart.version})
        classes = declare(name, self, args.target, args.objects.classes)
        namespaces = declare(name, self, args.target, args.objects.namespaces)
        declare(name, self, args.target, args.objects.claims, after=[*classes, *namespaces, args.namespace])
