"""Azure built-in roles, and how they are assigned."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import pulumi
from pulumi_azure_native import authorization

from components.naming import role_assignment_name, role_definition_id

PrincipalType = Literal["User", "Group", "ServicePrincipal"]


class Role(StrEnum):
    """GUIDs of built-in roles, the same in every tenant (Azure built-in roles reference)."""

    NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
    MANAGED_IDENTITY_OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"
    CLUSTER_USER = "4abbcc35-e782-43d8-92c5-2d3f1bd2253f"
    RBAC_CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"
    RBAC_READER = "7f6c6a51-bcf8-42ba-9220-52d62157d7db"


def assign_role(
    name: str,
    *,
    role: Role,
    scope: pulumi.Input[str],
    principal_id: pulumi.Input[str],
    principal_type: PrincipalType | None,
    subscription_id: str,
    opts: pulumi.ResourceOptions,
) -> authorization.RoleAssignment:
    """Assign `role` on `scope`, an ARM id, to the Entra object `principal_id`.

    Without a type ARM looks the principal up in Entra, and refuses one that is seconds old (PrincipalNotFound): an
    identity made in the same deployment must come with its type.
    """
    # As an output, since the SDK reads a plain None as "User", and ARM refuses that for a service principal.
    kind: pulumi.Output[PrincipalType | None] = pulumi.Output.from_input(principal_type)

    def assignment_name(parts: list[str]) -> str:
        return role_assignment_name(parts[0], parts[1], role)

    return authorization.RoleAssignment(
        name,
        role_assignment_name=pulumi.Output.all(scope, principal_id).apply(assignment_name),
        scope=scope,
        principal_id=principal_id,
        principal_type=kind,
        role_definition_id=role_definition_id(subscription_id, role),
        opts=opts,
    )
