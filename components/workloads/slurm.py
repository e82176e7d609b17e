"""A Slurm cluster: SchedMD's operator, then the cluster on its pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog import slurm as names
from physical_ai.settings.models.tree import ChartSourceName
from physical_ai.settings.plans.slurm import SlurmPlan

TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class SlurmArgs:
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    plan: SlurmPlan
    charts: ChartSourceName
    after: Sequence[pulumi.Resource] = ()


class Slurm(pulumi.ComponentResource):
    """The operator with its definitions, then the cluster.

    Attributes:
        installed: the releases of both charts, by name.
    """

    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: SlurmArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Slurm", name, {}, opts)
        plan, both = args.plan, [*args.namespaces.values(), *args.after]
        operator = kubernetes.helm.v3.Release(
            f"{name}-operator",
            name=names.OPERATOR_RELEASE,
            namespace=names.OPERATOR_NAMESPACE,
            **release_options(plan.operator, args.charts),
            values=plan.operator_values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, both),
        )
        # Deleted before the operator, which removes what belongs to the cluster.
        cluster = kubernetes.helm.v3.Release(
            f"{name}-cluster",
            name=names.CLUSTER_RELEASE,
            namespace=names.NAMESPACE,
            **release_options(plan.cluster, args.charts),
            values=plan.cluster_values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [*both, operator]),
        )
        self.installed = {
            names.OPERATOR_RELEASE: InstalledRelease(operator, plan.operator.version, names.OPERATOR_NAMESPACE),
            names.CLUSTER_RELEASE: InstalledRelease(cluster, plan.cluster.version, names.NAMESPACE),
        }
        self.register_outputs({"version": plan.operator.version})
