"""Answers of a GET of resources, and to the question whether a globally unique name is free.

Shapes: azure-rest-api-specs; Microsoft.ManagedIdentity 2023-01-31, and checkNameAvailability of Microsoft.Storage
2023-05-01, Microsoft.ContainerRegistry 2023-07-01 and Microsoft.DBforPostgreSQL 2024-08-01. Rights: Azure docs,
resource provider operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.azure import ids, rights
from simulator.azure.bodies import Json
from simulator.azure.cloud import Cloud
from simulator.azure.data import mappings
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.schema import findings
from simulator.azure.state import Resource


def identities(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    scope = _group(cloud, parts)
    rights.authorize(cloud.azure(), caller, "Microsoft.ManagedIdentity/userAssignedIdentities/read", scope)
    found = cloud.azure().of_kind("UserAssignedIdentity")
    return {"value": [_body(each) for each in found if ids.is_under(each.id, scope)]}


def credentials(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    return _children(cloud, parts, caller, "FederatedIdentityCredential")


def agent_pools(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    return _children(cloud, parts, caller, "AgentPool")


def resource(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """Body of one resource. Raises ArmError."""
    return _body(_found(cloud, parts, caller))


def _children(cloud: Cloud, parts: Mapping[str, str], caller: str, kind: str) -> Json:
    parent = _found(cloud, parts, caller)
    return {"value": [_body(each) for each in cloud.azure().children(parent.id, kind)]}


def _found(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Resource:
    _group(cloud, parts)
    rights.authorize(cloud.azure(), caller, rights.action(parts["id"], "read"), parts["id"])
    found = cloud.azure().get(parts["id"])
    if found is None:
        message = f"The Resource '{parts['id']}' was not found."
        raise ArmError(Refusal("aks-parent", 404, "ResourceNotFound", message))
    return found


def _group(cloud: Cloud, parts: Mapping[str, str]) -> str:
    name = parts["group"]
    if not cloud.azure().group_exists(name):
        message = f"Resource group '{name}' could not be found."
        raise ArmError(Refusal("arm-location-rg", 404, "ResourceGroupNotFound", message))
    return f"/subscriptions/{parts['subscription']}/resourceGroups/{name}"


def _body(found: Resource) -> Json:
    properties = {**found.body.get("properties", {}), "provisioningState": found.state}
    if found.kind == "AgentPool":
        properties |= {"count": int(found.facts.get("count", 0))}
    return {**found.body, "id": found.id, "name": ids.name(found.id), "properties": properties}


def name_action(namespace: str) -> str:
    """Right that the question about a name needs: an action with PostgreSQL, a read elsewhere."""
    verb = "action" if namespace.lower() == "microsoft.dbforpostgresql" else "read"
    return f"{namespace}/checkNameAvailability/{verb}"


def name_available(cloud: Cloud, body: Mapping[str, Any]) -> Json:
    """Answer to the question whether a name is free. A name is taken if a resource of this subscription has it, or if
    it is in `azure.taken`.
    """
    name, arm_type = str(body.get("name", "")), str(body.get("type", ""))
    kind = next((kind for kind, each in mappings().items() if each.arm_type.lower() == arm_type.lower()), "")
    azure = cloud.azure()
    here = any(ids.name(each.id).lower() == name.lower() for each in azure.of_kind(kind))
    if here or name.lower() in azure.taken.get(kind, ()):
        return {"nameAvailable": False, "reason": "AlreadyExists", "message": f"The name {name} is already taken."}
    wrong = [each.message for each in findings(kind, {"name": name}) if each.path == "name"] if kind else []
    if wrong:
        return {"nameAvailable": False, "reason": "Invalid", "message": wrong[0]}
    return {"nameAvailable": True}
