"""AMD GPU Operator: its release, what it reads, and a DeviceConfig for each pool of AMD's GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog.amd import API_VERSION, DOCKER_CONFIG, KIND, NAMESPACE, REGISTRY_SECRET, RELEASE
from physical_ai.planning.amd_operator import AmdPlan
from physical_ai.settings.models.tree import ChartSourceName
from physical_ai.settings.secrets import Secrets
from physical_ai.telemetry.amd_counters import CONFIG_MAP

TIMEOUT_SECONDS = 1800


@dataclass(frozen=True)
class AmdOperatorArgs:
    """`namespace` must allow privileged Pods: a driver is loaded from one."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: AmdPlan
    charts: ChartSourceName
    secrets: Secrets
    after: Sequence[pulumi.Resource] = ()
    """The release that brings Node Feature Discovery, and the kind of the rule that this one adds; cert-manager's."""


class AmdOperator(pulumi.ComponentResource):
    """The release, and before its end the DeviceConfigs: while the operator runs, it takes their finalizer off.

    Attributes:
        release: of the chart; its CRDs remain when it is deleted.
        installed: the release by its name.
        configs: DeviceConfigs by pool.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]
    configs: dict[str, kubernetes.apiextensions.CustomResource]

    def __init__(self, name: str, args: AmdOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:AmdOperator", name, {}, opts)
        plan = args.plan
        registry = kubernetes.core.v1.Secret(
            f"{name}-registry",
            metadata={"name": REGISTRY_SECRET, "namespace": NAMESPACE},
            type=f"kubernetes.io/{DOCKER_CONFIG.removeprefix('.')}",
            string_data={DOCKER_CONFIG: args.secrets[plan.login.secret].apply(plan.login.document)},
            opts=args.target.options(self, [args.namespace]),
        )
        fields = kubernetes.core.v1.ConfigMap(
            f"{name}-exporter",
            metadata={"name": CONFIG_MAP, "namespace": NAMESPACE},
            data=plan.exporter,
            opts=args.target.options(self, [args.namespace]),
        )
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            **release_options(plan.chart, args.charts),
            values=plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, *args.after]),
        )
        self.configs = {
            pool: kubernetes.apiextensions.CustomResource(
                f"{name}-{pool}",
                api_version=API_VERSION,
                kind=KIND,
                metadata={"name": pool, "namespace": NAMESPACE},
                # Known only when the release is: the preview would otherwise look for a kind that it brings.
                spec={**spec, "selector": self.release.status.apply(lambda _, own=spec["selector"]: own)},
                opts=args.target.options(self, [self.release, registry, fields]),
            )
            for pool, spec in plan.configs.items()
        }
        self.installed = {RELEASE: InstalledRelease(self.release, plan.chart.version, NAMESPACE)}
        self.register_outputs({"version": plan.chart.version, "pools": sorted(self.configs)})
