"""NVIDIA GPU Operator: its configuration, its Helm release, and an NVIDIADriver for each pool whose driver the operator
installs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.gpu.configs import config_map
from components.gpu.drivers import nvidia_driver
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.release_upgrades import checked_upgrades
from physical_ai.catalog.charts import chart
from physical_ai.planning.gpu_operator import CHART, GpuPlan
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.models.tree import ChartSourceName

TIMEOUT_SECONDS = 1800
"""Seconds that Helm waits for the GPU Operator and Node Feature Discovery. A node that the autoscaler first has to add
takes most of the time.
"""


@dataclass(frozen=True)
class GpuOperatorArgs:
    """Inputs of `GpuOperator`. `namespace` must allow privileged pods: driver, toolkit and device plugin mount the
    host.
    """

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: GpuPlan
    version: str
    charts: ChartSourceName
    after: Sequence[pulumi.Resource] = ()
    """Resources that must exist before the first operand runs."""
    installs: bool = True
    """True where the stack installs the GPU Operator. False where the cluster has a GPU Operator of another owner: the
    stack then creates only the ConfigMaps, and the owner has to refer to them in the operator's configuration.
    """


class GpuOperator(pulumi.ComponentResource):
    """The GPU Operator, created after the ConfigMaps that its operands mount and before the drivers that it installs.

    Attributes:
        releases: list with the Helm release, whose CRDs remain when it is deleted; empty if the stack does not install
            the operator.
        installed: the Helm release as an `InstalledRelease`, by its name; empty if `releases` is empty.
        drivers: NVIDIADriver resources by pool. They are deleted before the release, so that the operator still runs
            and removes the DaemonSets of the drivers.
        configs: ConfigMaps by name.
    """

    releases: list[kubernetes.helm.v3.Release]
    installed: Mapping[str, InstalledRelease]
    drivers: dict[str, kubernetes.apiextensions.CustomResource]
    configs: dict[str, kubernetes.core.v1.ConfigMap]

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GpuOperator", name, {}, opts)
        plan = args.plan
        self.configs = {
            config: config_map(
                f"{name}-{config}", config, OPERATOR_NAMESPACE, data, args.target.options(self, [args.namespace])
            )
            for config, data in plan.config_maps.items()
        }
        self.releases, self.drivers, self.installed = [], {}, {}
        if args.installs:
            release = self._release(name, args)
            self.releases = [release]
            self.installed = {CHART: InstalledRelease(release, args.version, OPERATOR_NAMESPACE)}
            self.drivers = {
                pool: nvidia_driver(
                    f"{name}-driver-{pool}",
                    driver,
                    release,
                    args.target.options(
                        self, [release, *([self.configs[driver.config_map]] if driver.config_map else [])]
                    ),
                )
                for pool, driver in plan.drivers.items()
            }
        self.register_outputs({"version": args.version, "drivers": sorted(self.drivers)})

    def _release(self, name: str, args: GpuOperatorArgs) -> kubernetes.helm.v3.Release:
        return kubernetes.helm.v3.Release(
            f"{name}-release",
            name=CHART,
            namespace=OPERATOR_NAMESPACE,
            **release_options(chart(CHART, args.version), args.charts),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(
                self,
                [args.namespace, *args.after, *self.configs.values()],
                [checked_upgrades(f"{name}-upgrade", args.version)],
            ),
        )
