"""Lines of a shell script that call the Azure CLI."""

from __future__ import annotations

import shlex

from physical_ai.catalog.aks import ASSIGNED

ASSIGNER_ROLE = "Role Based Access Control Administrator"


def condition() -> str:
    """Limits a right to assign roles to the roles that the program assigns (Azure docs, delegate-role-assignments)."""
    roles = ", ".join(sorted(ASSIGNED))
    kind = "Microsoft.Authorization/roleAssignments"
    return " AND ".join(
        f"((!(ActionMatches{{'{kind}/{action}'}})) OR "
        f"(@{source}[{kind}:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {{{roles}}}))"
        for action, source in (("write", "Request"), ("delete", "Resource"))
    )


def az(*words: str) -> str:
    """A command of the Azure CLI, with its words quoted for a shell."""
    return shlex.join(["az", *words])


def assign(principal: str, kind: str, role: str, scope: str) -> str:
    """A role assignment. `principal` is a word of the shell; the right to assign roles is limited by `condition`."""
    line = f"az role assignment create --assignee-object-id {principal} --assignee-principal-type {kind}"
    limited = f" --condition {shlex.quote(condition())} --condition-version 2.0" if role == ASSIGNER_ROLE else ""
    return f"{line} --role {shlex.quote(role)} --scope {shlex.quote(scope)}{limited}"
