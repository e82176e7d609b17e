"""ARM's answers to GET requests for resources, and to checkNameAvailability requests.

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
from simulator.azure.filled import body_of_get
from simulator.azure.schema import findings
from simulator.azure.state import Resource


def listed(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """ARM's list of the resources of one type in a resource group or subscription. Raises ArmError."""
    scope, type_ = parts["scope"], parts["type"]
    if "/resourcegroups/" in scope.lower():
        scope = _group(cloud, {**parts, "group": ids.group(scope)})
    rights.authorize(cloud.azure(), caller, f"{type_}/read", scope)
    every = cloud.azure().resources.values()
    found = [each for each in every if each.mapping.arm_type.lower() == type_.lower() and ids.is_under(each.id, scope)]
    return {"value": _whole(cloud, found)}


def resource(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """Body of one resource. Raises ArmError."""
    return _whole(cloud, [_found(cloud, parts, caller)])[0]


def group(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """Body of a resource group. Raises ArmError."""
    scope = _group(cloud, parts)
    rights.authorize(cloud.azure(), caller, "Microsoft.Resources/subscriptions/resourceGroups/read", scope)
    return _whole(cloud, [each for each in cloud.azure().of_kind("ResourceGroup") if ids.same(each.id, scope)])[0]


def resources(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """ARM's list of the resources in a resource group, without their properties. Raises ArmError."""
    scope = _group(cloud, parts)
    rights.authorize(cloud.azure(), caller, "Microsoft.Resources/subscriptions/resourceGroups/resources/read", scope)
    rows = [cloud.get(id_) for id_ in sorted(cloud.resources())]
    kept = ("id", "name", "type", "location", "tags")
    return {
        "value": [
            {key: value for key, value in body_of_get(each).items() if key in kept}
            for each in rows
            if each is not None and ids.is_under(each.id, scope) and _is_listed(each)
        ]
    }


def _is_listed(resource: Resource) -> bool:
    """True for a top-level resource; False for a child of another resource, and for an extension such as a role
    assignment.
    """
    return resource.mapping.arm_type.count("/") == 1 and resource.id.lower().count("/providers/") == 1


def below(cloud: Cloud, parts: Mapping[str, str], caller: str) -> Json:
    """ARM's list of the child or extension resources of one type that a resource has."""
    above = _found(cloud, {**parts, "id": parts["above"]}, caller)
    path = f"{above.id}/{parts['below']}/"
    rights.authorize(cloud.azure(), caller, rights.action(f"{path}x", "read"), above.id)
    found = [id_ for id_ in sorted(cloud.resources(inline=True)) if id_.lower().startswith(path.lower())]
    direct = [each for each in found if "/" not in each[len(path) :]]
    return {"value": [body_of_get(each) for id_ in direct if (each := cloud.get(id_)) is not None]}


def _whole(cloud: Cloud, given: list[Resource]) -> list[Json]:
    return [body_of_get(each) for one in given if (each := cloud.get(one.id)) is not None]


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


def name_action(namespace: str) -> str:
    """Azure action that a checkNameAvailability request needs: it ends with `/action` for PostgreSQL, otherwise with
    `/read`.
    """
    verb = "action" if namespace.lower() == "microsoft.dbforpostgresql" else "read"
    return f"{namespace}/checkNameAvailability/{verb}"


def name_available(cloud: Cloud, body: Mapping[str, Any]) -> Json:
    """ARM's answer to a checkNameAvailability request. A name is taken if a resource of this subscription or a name in
    `azure.taken` equals it.
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
