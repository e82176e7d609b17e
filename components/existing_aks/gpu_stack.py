"""The GPU stack for an AKS cluster that another program has created: GPU Operator, drivers, and a gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

from components.existing_aks.target import AksTarget
from components.gates.gpu_gate import GpuGate, GpuGateArgs
from components.gpu.grid_driver import GridDriver, GridDriverArgs
from components.gpu.operator import GpuOperator, GpuOperatorArgs
from components.kubernetes.charts import InstalledRelease
from physical_ai.planning.gpu_operator import GpuPlan, gpu_plan
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.readiness import expected_pools
from physical_ai.repository import INSTALLED
from physical_ai.settings import Pool, Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.faults import Fault

VALUES = INSTALLED / "values"
"""Folder of the values files that come with the platform."""


@dataclass(frozen=True)
class GpuStackArgs:
    """Inputs of `GpuStack`."""

    cluster: AksTarget
    """The cluster, and access to it."""
    pools: Mapping[str, Pool]
    """GPU pools by their name in AKS. Their nodes need the labels and taints that `GpuPool` gives to a pool."""
    operator_version: str | None = None
    """Version of the GPU Operator, one of docs/reference/catalogue.md; None for the platform's."""
    driver_version: str | None = None
    """Build of the driver on pools with the driver source `operator`; None for the platform's."""
    grid_version: str | None = None
    """Build of the driver on pools with the driver source `grid`; None for the platform's."""
    values: Path = VALUES
    """Folder with values files in the layout of the platform's folder `values/`."""
    timeout_minutes: int = 45
    """Minutes for which a deployment waits until all nodes offer their GPUs; 0 to look once, and only to warn."""


class GpuStack(pulumi.ComponentResource):
    """The GPU Operator, the drivers of all pools, and a gate that waits until the nodes offer their GPUs.

    Attributes:
        releases: Helm releases by name.
        gpus: what each pool offers, by its name; unknown in a preview.
    """

    releases: Mapping[str, InstalledRelease]
    gpus: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, args: GpuStackArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:existingAks:GpuStack", name, {}, opts)
        target, own = args.cluster.cluster(name), pulumi.ResourceOptions(parent=self)
        settings = args.cluster.settings(args.pools, _sections(args))
        namespace = args.cluster.namespaces(name, target, [OPERATOR_NAMESPACE], self)[OPERATOR_NAMESPACE]
        grid = GridDriver(f"{name}-grid-driver", GridDriverArgs(target, namespace, grid_plan(settings)), own)
        operator = GpuOperator(
            f"{name}-operator",
            GpuOperatorArgs(
                target=target,
                namespace=namespace,
                plan=self._plan(args, settings),
                version=settings.gpu_operator.version,
                charts=settings.charts.source,
                after=[grid.daemon_set] if grid.daemon_set is not None else [],
            ),
            own,
        )
        self.releases = operator.installed
        gate = GpuGateArgs(
            kubeconfig=args.cluster.kubeconfig,
            expected=expected_pools(settings),
            timeout_minutes=args.timeout_minutes,
            after=[*operator.releases, *operator.drivers.values(), *operator.configs.values()],
        )
        self.gpus = GpuGate(f"{name}-gate", gate, own).gpus
        self.register_outputs({"version": settings.gpu_operator.version, "pools": sorted(args.pools)})

    def _plan(self, args: GpuStackArgs, settings: Settings) -> GpuPlan:
        plan, faults = gpu_plan(settings, args.values)
        report(self, faults)
        return GpuPlan(args.cluster.placed(plan.values, settings), plan.drivers, plan.config_maps)


def _sections(args: GpuStackArgs) -> dict[str, dict[str, Any]]:
    """The versions that the program chooses, as settings."""
    operator: dict[str, Any] = {"version": args.operator_version} if args.operator_version else {}
    if args.driver_version:
        operator["driver"] = {"version": args.driver_version}
    return {"gpuOperator": operator, "gridDriver": {"version": args.grid_version} if args.grid_version else {}}


def report(component: pulumi.Resource, faults: list[Fault]) -> None:
    """Warns of faults in values files. Raises pulumi.RunError if one of them is an error."""
    if errors := [fault for fault in faults if fault.is_error]:
        raise pulumi.RunError("\n".join(map(str, errors)))
    for fault in faults:
        pulumi.log.warn(str(fault), component)
