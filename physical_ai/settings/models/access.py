"""Settings of access to the cluster: who deploys the stack, and who has a role inside of the cluster."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import EntraId, Model


class Deployer(Model):
    """A group, person or pipeline that deploys the stack."""

    principal_id: EntraId = Field(description="Entra object id.")
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal; a pipeline's identity is a ServicePrincipal."
    )


class ClusterPrincipal(Model):
    """A person, group or workload with a role inside the cluster."""

    principal_id: EntraId = Field(description="Entra object id.")
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal."
    )
    role: Literal["admin", "reader", "drift-reader"] = Field(
        default="reader",
        description="reader: RBAC Reader on the cluster. drift-reader: also what drift detection reads of roles,"
        " admission policies and drivers, but no Secrets; a Group or ServicePrincipal. admin: RBAC Cluster Admin.",
    )


class Access(Model):
    deployers: tuple[Deployer, ...] = Field(
        default=(),
        description="Principals that deploy the stack, and are administrators of the cluster: groups through the"
        " cluster's own list of admin groups, others through RBAC Cluster Admin. A deployment to Azure needs"
        " at least one.",
    )
    principals: tuple[ClusterPrincipal, ...] = Field(
        default=(), description="Further roles on the cluster, such as administrators for emergencies, and readers."
    )
