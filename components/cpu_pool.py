"""The untainted user pool: operators, schedulers and CPU tasks run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice

from components.agent_pool import ignored_changes, node_pool_properties, upgrade_settings
from physical_ai.settings import NodePool
from physical_ai.settings.facts.pools import CPU_POOL, IMMUTABLE_POOL_PROPERTIES


@dataclass(frozen=True)
class CpuPoolArgs:
    resource_group_name: pulumi.Input[str]
    cluster: containerservice.ManagedCluster
    kubernetes_version: str
    subnet_id: pulumi.Input[str]
    tags: Mapping[str, str]
    pool: NodePool
    retry: pulumi.ErrorHook


class CpuPool(pulumi.ComponentResource):
    """The only pool for the platform's own Pods: the system pool and the GPU pools are tainted."""

    node_pool: containerservice.AgentPool

    def __init__(self, name: str, args: CpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:CpuPool", name, {}, opts)
        self.node_pool = containerservice.AgentPool(
            f"{name}-nodes",
            agent_pool_name=CPU_POOL,
            resource_group_name=args.resource_group_name,
            resource_name_=args.cluster.name,
            mode="User",
            vnet_subnet_id=args.subnet_id,
            tags=args.tags,
            upgrade_settings=upgrade_settings(args.pool),
            **node_pool_properties(args.pool, args.kubernetes_version),
            opts=pulumi.ResourceOptions(
                parent=self,
                replace_with=[args.cluster],
                ignore_changes=ignored_changes(args.pool),
                replace_on_changes=list(IMMUTABLE_POOL_PROPERTIES),
                delete_before_replace=True,
                hooks=pulumi.ResourceHookBinding(on_error=[args.retry]),
            ),
        )
        self.register_outputs({"nodePoolName": CPU_POOL})
