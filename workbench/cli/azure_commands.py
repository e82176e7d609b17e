"""Shell script lines that call the Azure CLI."""

from __future__ import annotations

import shlex

from physical_ai.catalog.aks import ASSIGNED

ASSIGNER_ROLE = "Role Based Access Control Administrator"


def condition() -> str:
    """Condition for a right to assign roles: only the roles that the program assigns may be assigned or removed (Azure
    docs, delegate-role-assignments).
    """
    roles = ", ".join(sorted(ASSIGNED))
    kind = "Microsoft.Authorization/roleAssignments"
    return " AND ".join(
        f"((!(ActionMatches{{'{kind}/{action}'}})) OR "
        f"(@{source}[{kind}:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {{{roles}}}))"
        for action, source in (("write", "Request"), ("delete", "Resource"))
    )


def az(*words: str) -> str:
    """An Azure CLI command, with its words quoted for a shell."""
    return shlex.join(["az", *words])


def assign(principal: str, kind: str, role: str, scope: str) -> str:
    """Command for a role assignment without a condition. `principal` is a shell word with the principal's object id."""
    line = f"az role assignment create --assignee-object-id {principal} --assignee-principal-type {kind}"
    return f"{line} --role {shlex.quote(role)} --scope {shlex.quote(scope)}"


def assign_limited() -> str:
    """Command that grants a right to assign roles to the principal $1 on the scope $2. The right is limited by
    `condition`.
    """
    line = 'az role assignment create --assignee-object-id "$1" --assignee-principal-type ServicePrincipal'
    return f'{line} --role {shlex.quote(ASSIGNER_ROLE)} --scope "$2" --condition "$CONDITION" --condition-version 2.0'
