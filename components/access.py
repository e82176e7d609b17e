"""Who may do what inside the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization

from components.account import AzureAccount
from components.roles import PrincipalType, assign_role
from physical_ai.catalog.aks import Role
from physical_ai.settings import Access as AccessSettings


@dataclass(frozen=True)
class Grant:
    """One role for one principal on the cluster. `name` is unique among a cluster's grants.

    `principal_type` is None where only Entra knows it.
    """

    name: str
    role: Role
    principal_id: str
    principal_type: PrincipalType | None


def grants(access: AccessSettings, deployer_id: str | None) -> list[Grant]:
    """All roles to assign on the cluster, the deployer's first and no pair of role and principal twice.

    With local accounts off, having created a cluster gives no right inside it, so the deployer is assigned a
    role like everybody else. Named principals also get the Cluster User role, without which `az aks get-credentials` is
    refused; the deployer, who could create the cluster, has that action already. The deployer's type is left to Entra:
    a person today, a pipeline tomorrow, and never an identity so fresh that Entra would not find it.
    """
    wanted: list[Grant] = []
    if deployer_id:
        wanted.append(Grant("deployer-admin", Role.RBAC_CLUSTER_ADMIN, deployer_id, None))
    for principal in access.principals:
        rbac = Role.RBAC_CLUSTER_ADMIN if principal.role == "admin" else Role.RBAC_READER
        who, kind = principal.principal_id, principal.principal_type
        wanted.append(Grant(f"{who}-{principal.role}", rbac, who, kind))
        wanted.append(Grant(f"{who}-user", Role.CLUSTER_USER, who, kind))
    return list(_once(wanted))


def _once(wanted: Iterable[Grant]) -> Iterable[Grant]:
    """ARM refuses the same role for the same principal on the same scope twice (RoleAssignmentExists)."""
    seen: set[tuple[Role, str]] = set()
    for grant in wanted:
        key = (grant.role, grant.principal_id.lower())
        if key not in seen:
            seen.add(key)
            yield grant


@dataclass(frozen=True)
class ClusterAccessArgs:
    cluster_id: pulumi.Input[str]
    account: AzureAccount
    grants: Sequence[Grant]


class ClusterAccess(pulumi.ComponentResource):
    """Azure RBAC roles on the cluster. Everything inside the cluster comes after `assignments`."""

    assignments: list[authorization.RoleAssignment]

    def __init__(self, name: str, args: ClusterAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ClusterAccess", name, {}, opts)
        if args.account.object_id is None:
            pulumi.log.warn(
                "The Azure login does not tell its Entra object id: this preview leaves out the deployer's role.", self
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
