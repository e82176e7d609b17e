"""Rules of role assignments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.errors import Refusal
from simulator.azure.roles import GUID, role_guid, role_of
from simulator.azure.rules.base import Put, on_put, refuse

MOST = 4000


@on_put("RoleAssignment", "ra-name", "ra-principal-guid", "ra-role-format", "ra-role-exists", "ra-limit")
def form(put: Put) -> Iterator[Refusal]:
    name, role = ids.name(put.id), put.properties.get("roleDefinitionId")
    if not GUID.match(name):
        message = f"The role assignment ID '{name}' is not valid. The role assignment ID must be a GUID."
        yield refuse(put, "ra-name", message, "name")
    principal = str(put.properties.get("principalId", ""))
    if not GUID.match(principal):
        yield refuse(
            put, "ra-principal-guid", f"The principal ID '{principal}' is not a GUID.", "properties.principalId"
        )
    target = "properties.roleDefinitionId"
    if not role_guid(role):
        message = (
            f"The role definition id '{role}' must end in /providers/Microsoft.Authorization/roleDefinitions/{{guid}}."
        )
        yield refuse(put, "ra-role-format", message, target)
    elif role_of(role) is None:
        message = f"The specified role definition with ID '{role_guid(role)}' does not exist."
        yield refuse(put, "ra-role-exists", message, target)
    if put.old is None and sum(1 for _ in put.azure.of_kind(put.kind)) >= MOST:
        yield refuse(put, "ra-limit", f"The subscription has {MOST} role assignments; no more can be created.")


@on_put("RoleAssignment", "ra-principal", "ra-principal-type", "uai-outputs")
def principal(put: Put) -> Iterator[Refusal]:
    """Refusals of a role assignment if its principal is missing in the directory and `principalType` is not set, or if
    its principal has another type than `principalType`. A new identity appears in the directory only after a delay.
    """
    principal_id, given = str(put.properties.get("principalId", "")), put.properties.get("principalType")
    found = put.azure.principal_type(principal_id)
    if found is None and given is None:
        message = (
            f"Principal {principal_id} does not exist in the directory {put.azure.directory.tenant}. Check that you"
        )
        message += " have the correct principal ID. If you are creating this principal and then immediately assigning a"
        message += " role, this error might be related to a replication delay. In this case, set the role assignment"
        message += " principalType property to a value, such as ServicePrincipal, User, or Group."
        yield refuse(put, "ra-principal", message, "properties.principalId")
    elif found is not None and given not in (None, found):
        message = f"The principal ID '{principal_id}' is of type {found}, not {given}."
        yield refuse(put, "ra-principal-type", message, "properties.principalType")


@on_put("RoleAssignment", "ra-duplicate", "ra-update", "ra-update-role", "ra-scope-missing", "ra-condition-version")
def assignment(put: Put) -> Iterator[Refusal]:
    scope = str(put.inputs.get("scope", ""))
    if not put.azure.exists(scope):
        yield refuse(put, "ra-scope-missing", f"The Resource '{scope}' was not found.")
    mine = _meaning(put.inputs)
    for other in put.azure.of_kind(put.kind):
        if not ids.same(other.id, put.id) and _meaning(other.inputs) == mine:
            message = "The role assignment already exists. The ID of the existing role assignment is"
            yield refuse(put, "ra-duplicate", f"{message} {ids.name(other.id)}.")
    if put.old and (before := _meaning(put.old.inputs)) != mine:
        message = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
        only_role = (before[0], before[2]) == (mine[0], mine[2])
        yield refuse(put, "ra-update-role" if only_role else "ra-update", message, "properties")
    if put.properties.get("condition") and put.properties.get("conditionVersion") != "2.0":
        message = "A condition needs conditionVersion 2.0."
        yield refuse(put, "ra-condition-version", message, "properties.conditionVersion")


def _meaning(inputs: Mapping[str, Any]) -> tuple[str, str, str]:
    """The properties that together identify an assignment: scope, role, principal."""
    return (
        ids.key(str(inputs.get("scope", ""))),
        role_guid(inputs.get("roleDefinitionId")),
        str(inputs.get("principalId", "")).lower(),
    )
