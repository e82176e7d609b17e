"""The GRID driver for vGPU pools of an AKS cluster that another program has created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.existing_aks.target import AksTarget
from components.gpu.grid_driver import GridDriver, GridDriverArgs
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.settings import GridDriver as GridDriverSettings
from physical_ai.settings import Pool
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


@dataclass(frozen=True)
class GridDriverAgentArgs:
    """Inputs of `GridDriverAgent`."""

    cluster: AksTarget
    """The cluster, and access to it."""
    pools: Mapping[str, Pool]
    """Pools by their name in AKS. Only those with the driver source `grid` get the driver."""
    driver: GridDriverSettings | None = None
    """Build, source and upgrades of the driver; None for those of the platform (docs/grid-driver.md)."""
    namespace: kubernetes.core.v1.Namespace | None = None
    """The namespace `gpu-operator`, which must allow privileged Pods; None to create it."""


class GridDriverAgent(pulumi.ComponentResource):
    """The agent that installs the GRID driver on nodes with vGPUs, for a cluster whose GPU Operator is another's.

    `GpuStack` has this agent already.

    Attributes:
        daemon_set: the agent's DaemonSet.
    """

    daemon_set: kubernetes.apps.v1.DaemonSet

    def __init__(self, name: str, args: GridDriverAgentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:existingAks:GridDriverAgent", name, {}, opts)
        target, own = args.cluster.cluster(name), pulumi.ResourceOptions(parent=self)
        section = args.driver.model_dump(mode="json", by_alias=True, exclude_unset=True) if args.driver else {}
        plan = grid_plan(args.cluster.settings(args.pools, {"gridDriver": section}))
        if plan is None:
            listed = ", ".join(args.pools) or "none"
            raise pulumi.RunError(
                f"GridDriverAgentArgs.pools: none of the pools ({listed}) has the driver source grid.\n"
                "  Write driver=Driver(source=DriverSource.GRID) for the pools with vGPUs."
            )
        namespace = args.namespace
        if namespace is None:
            namespace = args.cluster.namespaces(name, target, [OPERATOR_NAMESPACE], self)[OPERATOR_NAMESPACE]
        agent = GridDriver(f"{name}-agent", GridDriverArgs(target, namespace, plan), own)
        assert agent.daemon_set is not None
        self.daemon_set = agent.daemon_set
        self.register_outputs({"pools": list(plan.wanted)})
