"""Roles on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization

from components.account import AzureAccount
from components.roles import assign_role
from physical_ai.settings.facts.access import Grant


@dataclass(frozen=True)
class ClusterAccessArgs:
    cluster_id: pulumi.Input[str]
    account: AzureAccount
    grants: Sequence[Grant]


class ClusterAccess(pulumi.ComponentResource):
    """Azure RBAC roles on the cluster. All resources in the cluster depend on `assignments`."""

    assignments: list[authorization.RoleAssignment]

    def __init__(self, name: str, args: ClusterAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ClusterAccess", name, {}, opts)
        if args.account.object_id is None:
            pulumi.log.warn(
                "The Azure login has no Entra object id: this preview leaves out the deployer's role.", self
            )
        self.assignments = [
            assign_role(
                f"{name}-{grant.name}",
                role=grant.role,
                scope=args.cluster_id,
                principal_id=grant.principal_id,
                principal_type=grant.principal_type,
                subscription_id=args.account.subscription_id,
                opts=pulumi.ResourceOptions(parent=self),
            )
            for grant in args.grants
        ]
        self.register_outputs({"assignments": len(self.assignments)})
