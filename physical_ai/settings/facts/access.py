"""Who gets which role on the cluster. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog.aks import Role
from physical_ai.settings.models.tree import Access

PrincipalType = Literal["User", "Group", "ServicePrincipal"]


@dataclass(frozen=True)
class Grant:
    """One role for one principal on the cluster. `name` is unique among a cluster's grants.

    `principal_type` is None where only Entra knows it.
    """

    name: str
    role: Role
    principal_id: str
    principal_type: PrincipalType | None


def grants(access: Access, deployer_id: str | None) -> list[Grant]:
    """All roles to assign on the cluster, the deployer's first, without a duplicate pair of role and principal.

    With local accounts off, creating a cluster gives no rights in it, so the deployer is assigned a role as well.
    Named principals also get the Cluster User role, without which `az aks get-credentials` is denied; the deployer,
    who could create the cluster, has that action already. The deployer's type is left to Entra: it is a person or a
    pipeline, and never an identity so new that Entra would not find it.
    """
    wanted: list[Grant] = []
    if deployer_id:
        wanted.append(Grant("deployer-admin", Role.RBAC_CLUSTER_ADMIN, deployer_id, None))
    for principal in access.principals:
        rbac = Role.RBAC_CLUSTER_ADMIN if principal.role == "admin" else Role.RBAC_READER
        own_id, kind = principal.principal_id, principal.principal_type
        wanted.append(Grant(f"{own_id}-{principal.role}", rbac, own_id, kind))
        wanted.append(Grant(f"{own_id}-user", Role.CLUSTER_USER, own_id, kind))
    return list(_distinct(wanted))


def _distinct(wanted: Iterable[Grant]) -> Iterable[Grant]:
    """ARM refuses the same role for the same principal on the same scope twice (RoleAssignmentExists)."""
    seen: set[tuple[Role, str]] = set()
    for grant in wanted:
        key = (grant.role, grant.principal_id.lower())
        if key not in seen:
            seen.add(key)
            yield grant
