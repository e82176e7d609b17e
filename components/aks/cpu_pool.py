"""The untainted user pool: operators, schedulers and CPU tasks run here."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import containerservice

from components.aks.agent_pool import UserPoolArgs, declare_user_pool


class CpuPool(pulumi.ComponentResource):
    """The node pool on which the platform's own Pods run. All other pools (system, runners, GPUs) are tainted."""

    node_pool: containerservice.AgentPool

    def __init__(self, name: str, args: UserPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:CpuPool", name, {}, opts)
        self.node_pool = declare_user_pool(f"{name}-nodes", args, self)
        self.register_outputs({"nodePoolName": args.pool_name})
