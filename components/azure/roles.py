"""Assignments of Azure roles."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import authorization

from physical_ai.catalog.aks import Role
from physical_ai.settings.facts.access import PrincipalType
from physical_ai.settings.facts.naming import role_assignment_name, role_definition_id


def assign_role(
    name: str,
    *,
    role: Role,
    scope: pulumi.Input[str],
    principal_id: pulumi.Input[str],
    principal_type: PrincipalType,
    subscription_id: str,
    opts: pulumi.ResourceOptions,
) -> authorization.RoleAssignment:
    """Assigns `role` on `scope`, an ARM id, to the Entra object `principal_id`.

    `principal_type` is always sent. Without it, ARM looks up the principal in Entra, and refuses a principal that was
    created seconds ago (PrincipalNotFound).
    """

    def assignment_name(parts: list[str]) -> str:
        return role_assignment_name(parts[0], parts[1], role)

    return authorization.RoleAssignment(
        name,
        role_assignment_name=pulumi.Output.all(scope, principal_id).apply(assignment_name),
        scope=scope,
        principal_id=principal_id,
        principal_type=principal_type,
        role_definition_id=role_definition_id(subscription_id, role),
        opts=opts,
    )
