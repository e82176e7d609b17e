"""The GRID driver agent: a privileged Pod on each node whose vGPU driver this project installs, and its rights."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare_agent
from physical_ai.catalog.own_names import GRID_AGENT
from physical_ai.planning.grid_driver import GridPlan
from physical_ai.planning.grid_objects import grid_objects


@dataclass(frozen=True)
class GridDriverArgs:
    """Inputs of `GridDriver`. `namespace` must allow privileged pods: the agent enters the host's mount namespace."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: GridPlan | None
    """Plan of the GRID driver; None in a stack without a GRID pool."""


class GridDriver(pulumi.ComponentResource):
    """The GRID driver agent's DaemonSet, its files, its rights, and the policies that limit the rights. A stack without
    a GRID pool has none of them.

    The agent is declared for pools without nodes too, since a node gets its driver when it joins. Order of creation:
    the policies, the rights, the Pods. The engine does not wait for drivers.

    Attributes:
        daemon_set: the agent's DaemonSet; None in a stack without a GRID pool.
    """

    daemon_set: kubernetes.apps.v1.DaemonSet | None

    def __init__(self, name: str, args: GridDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GridDriver", name, {}, opts)
        self.daemon_set = None if args.plan is None else self._agent(name, args, args.plan)
        self.register_outputs({"pools": [] if args.plan is None else list(args.plan.wanted)})

    def _agent(self, name: str, args: GridDriverArgs, plan: GridPlan) -> kubernetes.apps.v1.DaemonSet:
        objects, target = grid_objects(plan), args.target
        after = declare_agent(name, self, target, objects, namespace=args.namespace, common=GRID_AGENT)
        return kubernetes.apps.v1.DaemonSet(
            f"{name}-agent",
            metadata=objects.daemon_set["metadata"],
            spec=objects.daemon_set["spec"],
            opts=target.options(self, after),
        )
