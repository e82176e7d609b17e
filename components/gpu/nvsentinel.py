"""NVSentinel: what it may do, the way to its datastore, and its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.catalog.nvsentinel import DATASTORE_KEY, DATASTORE_SECRET, NAMESPACE, RELEASE
from physical_ai.planning.nvsentinel import NvsentinelPlan
from physical_ai.settings.models.tree import ChartSourceName
from physical_ai.settings.secrets import Secrets

TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class NvsentinelArgs:
    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: NvsentinelPlan
    limits: Sequence[Mapping[str, Any]]
    """Admission policies that have to exist before anything of NVSentinel does."""
    charts: ChartSourceName
    secrets: Secrets
    after: Sequence[pulumi.Resource] = ()


class Nvsentinel(pulumi.ComponentResource):
    """The release, after the policies that limit it.

    Attributes:
        release: of the chart.
        installed: the release by its name.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: NvsentinelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Nvsentinel", name, {}, opts)
        before: list[pulumi.Resource] = declare(name, self, args.target, args.limits, after=[args.namespace])
        if args.plan.datastore_secret is not None:
            before.append(
                kubernetes.core.v1.Secret(
                    f"{name}-datastore",
                    metadata={"name": DATASTORE_SECRET, "namespace": NAMESPACE},
                    string_data={DATASTORE_KEY: args.secrets[args.plan.datastore_secret]},
                    opts=args.target.options(self, [args.namespace]),
                )
            )
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            **release_options(args.plan.chart, args.charts),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, *before, *args.after]),
        )
        self.installed = {RELEASE: InstalledRelease(self.release, args.plan.chart.version, NAMESPACE)}
        self.register_outputs({"version": args.plan.chart.version})
