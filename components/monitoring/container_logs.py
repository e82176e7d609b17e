"""Selection of the containers whose output Azure's agent in the cluster collects."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.planning.container_logs import agent_config
from physical_ai.settings.models.container_logs import ContainerLogs as ContainerLogsSettings


@dataclass(frozen=True)
class ContainerLogsArgs:
    target: ClusterTarget
    settings: ContainerLogsSettings


class ContainerLogs(pulumi.ComponentResource):
    """ConfigMap that tells Azure's log agent in the cluster which containers' output to collect.

    The component `Monitoring` declares the rule that sends the output to the workspace.
    """

    def __init__(self, name: str, args: ContainerLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:ContainerLogs", name, {}, opts)
        config = agent_config(args.settings)
        kubernetes.core.v1.ConfigMap(
            f"{name}-agent", metadata=config["metadata"], data=config["data"], opts=args.target.options(self)
        )
        self.register_outputs({})
