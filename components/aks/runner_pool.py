"""The node pool of GitHub runners."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import containerservice

from components.aks.agent_pool import UserPoolArgs, declare_user_pool


class RunnerPool(pulumi.ComponentResource):
    """Node pool for GitHub runner jobs only: tainted, and without nodes while no job runs."""

    node_pool: containerservice.AgentPool

    def __init__(self, name: str, args: UserPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:RunnerPool", name, {}, opts)
        self.node_pool = declare_user_pool(f"{name}-nodes", args, self)
        self.register_outputs({"nodePoolName": args.pool_name})
