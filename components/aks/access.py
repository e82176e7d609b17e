"""Role assignments that let users and groups in to the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization

from components.azure.roles import assign_role
from physical_ai.settings.facts.access import Grant


@dataclass(frozen=True)
class ClusterAccessArgs:
    cluster_id: pulumi.Input[str]
    subscription_id: str
    grants: Sequence[Grant]


class ClusterAccess(pulumi.ComponentResource):
    """Role assignments on the cluster: one for each of `ClusterAccessArgs.grants`.

    Attributes:
        assignments: the role assignments. Every resource in the cluster is created after them.
    """

    assignments: list[authorization.RoleAssignment]

    def __init__(self, name: str, args: ClusterAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ClusterAccess", name, {}, opts)
        self.assignments = [
            assign_role(
                f"{name}-{grant.name}",
                role=grant.role,
                scope=args.cluster_id,
                principal_id=grant.principal_id,
                principal_type=grant.principal_type,
                subscription_id=args.subscription_id,
                opts=pulumi.ResourceOptions(parent=self, aliases=earlier_names(name, grant, args.grants)),
            )
            for grant in args.grants
        ]
        self.register_outputs({"assignments": len(self.assignments)})


def earlier_names(name: str, grant: Grant, grants: Sequence[Grant]) -> list[pulumi.Alias]:
    """Pulumi aliases of the role assignment for `grant`. The first deployer's assignment has the alias
    `<name>-deployer-admin`, its name in stacks with a single deployer; all other assignments have no alias.
    """
    first = next((each for each in grants if each.name.endswith("-deployer")), None)
    return [pulumi.Alias(name=f"{name}-deployer-admin")] if grant == first else []
