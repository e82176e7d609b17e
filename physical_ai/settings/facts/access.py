"""Principals and their roles on the cluster. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog.aks import Role
from physical_ai.settings.models.access import Access

PrincipalType = Literal["User", "Group", "ServicePrincipal"]


@dataclass(frozen=True)
class Grant:
    """Role of one principal on the cluster. `name` is unique among the cluster's grants."""

    name: str
    role: Role
    principal_id: str
    principal_type: PrincipalType


def admin_groups(access: Access) -> list[str]:
    """Object ids of the groups in `access.deployers`, for the cluster's `aadProfile.adminGroupObjectIDs`.

    AKS binds these groups to cluster-admin when it creates the cluster, so no role assignment has to take effect
    first, and the cluster itself lists its administrators.
    """
    return [each.principal_id for each in access.deployers if each.principal_type == "Group"]


def grants(access: Access) -> list[Grant]:
    """All roles to assign on the cluster, the deployers' first; each pair of role and principal occurs once.

    With local accounts off, the creator of a cluster has no rights in it, so deployers are assigned a role, too. Groups
    of deployers get their rights from `admin_groups` instead. The settings name the deployers, so the result does not
    depend on who runs a command. Other principals also get the role Cluster User, without which `az aks
    get-credentials` is denied; deployers have that right already, because they may create the cluster.
    """
    wanted: list[Grant] = []
    for deployer in access.deployers:
        if deployer.principal_type != "Group":
            own_id, kind = deployer.principal_id, deployer.principal_type
            wanted.append(Grant(f"{own_id}-deployer", Role.RBAC_CLUSTER_ADMIN, own_id, kind))
    for principal in access.principals:
        rbac = Role.RBAC_CLUSTER_ADMIN if principal.role == "admin" else Role.RBAC_READER
        own_id, kind = principal.principal_id, principal.principal_type
        wanted.append(Grant(f"{own_id}-{principal.role}", rbac, own_id, kind))
        wanted.append(Grant(f"{own_id}-user", Role.CLUSTER_USER, own_id, kind))
    return list(_distinct(wanted))


def _distinct(wanted: Iterable[Grant]) -> Iterable[Grant]:
    """Grants without repeated pairs of role and principal, because ARM refuses a second assignment of a pair
    (RoleAssignmentExists).
    """
    seen: set[tuple[Role, str]] = set()
    for grant in wanted:
        key = (grant.role, grant.principal_id.lower())
        if key not in seen:
            seen.add(key)
            yield grant
