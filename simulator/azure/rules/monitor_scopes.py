"""Rules on private link scopes of Azure Monitor, and on Managed Grafana's endpoints to workspaces without public
access.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.registry import models
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.rules.private_endpoints import GROUPS, connections
from simulator.azure.state import AzureState, Resource, arm_type

CONNECTED = (
    "microsoft.operationalinsights/workspaces",
    "microsoft.insights/components",
    "microsoft.insights/datacollectionendpoints",
)
"""Types of resources that a private link scope may contain. An Azure Monitor workspace is not among them: it has
private endpoints of its own.
"""
MOST_SCOPES = 5
AT = "properties.linkedResourceId"


@on_put("PrivateLinkScope", "ampls-location")
def scope(put: Put) -> Iterator[Refusal]:
    if put.body.get("location") != "global":
        message = f"The location '{put.body.get('location')}' is not available; the location must be 'global'."
        yield refuse(put, "ampls-location", message, "location")


@on_put(
    "PrivateLinkScopedResource",
    "ampls-connected",
    "ampls-connected-once",
    "ampls-connected-fixed",
    "ampls-resource-limit",
)
def connected(put: Put) -> Iterator[Refusal]:
    wanted = str(put.properties.get("linkedResourceId") or "")
    if arm_type(wanted).lower() not in CONNECTED:
        message = f"'{wanted}' cannot be part of a private link scope: it is no Log Analytics workspace, Application"
        message += " Insights component or data collection endpoint."
        yield refuse(put, "ampls-connected", message, AT)
        return
    own = wanted.lower().startswith(f"/subscriptions/{put.azure.directory.subscription}/")
    if own and put.azure.get(wanted) is None and "/components/" not in wanted.lower():
        yield refuse(put, "ampls-connected", f"The resource '{wanted}' was not found.", AT, "ResourceNotFound")
    if put.old is not None and not ids.same(get(put.old.body, AT), wanted):
        yield refuse(put, "ampls-connected-fixed", "The resource of an entry cannot be changed.", AT)
    others = [each for each in entries(put.azure, wanted) if not ids.same(each.id, put.id)]
    twice = [each for each in others if ids.same(scope_of(each), scope_of_id(put.id))]
    if twice:
        message = f"'{ids.name(wanted)}' is part of the scope already, as '{ids.name(twice[0].id)}'."
        yield refuse(put, "ampls-connected-once", message, AT)
    if len(others) >= MOST_SCOPES:
        message = f"'{ids.name(wanted)}' is part of {len(others)} scopes; {MOST_SCOPES} are allowed."
        yield refuse(put, "ampls-resource-limit", message, AT)


def entries(azure: AzureState, resource_id: str) -> list[Resource]:
    """Entries (PrivateLinkScopedResource) by which private link scopes contain a resource."""
    every = azure.of_kind("PrivateLinkScopedResource")
    return [each for each in every if ids.same(get(each.body, AT), resource_id)]


def scope_of(entry: Resource) -> str:
    return scope_of_id(entry.id)


def scope_of_id(entry_id: str) -> str:
    return ids.parent(entry_id)


@on_delete(("Workspace", "DataCollectionEndpoint"), "ampls-in-use")
def in_use(delete: Delete) -> Iterator[Refusal]:
    for each in entries(delete.azure, delete.id):
        message = f"'{ids.name(delete.id)}' is part of the private link scope '{ids.name(scope_of(each))}'."
        yield refuse(delete, "ampls-in-use", f"{message} Disconnect it first.")
        return


@on_put("PrivateDnsZoneGroup", "ampls-one-network")
def one_scope(put: Put) -> Iterator[Refusal]:
    """Refusals of a second private link scope in a network: Azure Monitor's DNS names are the same in every scope, so
    the second scope's records would replace the first's.
    """
    mine = put.azure.get(ids.parent(put.id), "PrivateEndpoint")
    target = _scope_behind(mine)
    if mine is None or target is None:
        return
    zones = _zones(put.properties)
    for other in put.azure.of_kind("PrivateDnsZoneGroup"):
        theirs = put.azure.get(ids.parent(other.id), "PrivateEndpoint")
        second = _scope_behind(theirs)
        if theirs is None or second is None or ids.same(second, target) or ids.same(other.id, put.id):
            continue
        if zones & _zones(other.body["properties"]) or _network(theirs) == _network(mine):
            message = f"The records of private link scope '{ids.name(second)}' would be replaced by those of"
            message += f" '{ids.name(target)}': a network is connected to one scope."
            yield refuse(put, "ampls-one-network", message, "properties.privateDnsZoneConfigs")
            return


def _scope_behind(endpoint: Resource | None) -> str | None:
    """Id of the private link scope that a private endpoint leads to; None for other endpoints."""
    for service, _, _ in connections(endpoint.body) if endpoint is not None else ():
        if arm_type(service).lower() == "microsoft.insights/privatelinkscopes":
            return service
    return None


def _zones(properties: dict[str, Any]) -> set[str]:
    """Ids of the private DNS zones of an endpoint to Azure Monitor, without the blob zone, which other services use
    too.
    """
    found = {ids.key(str(get(e, "properties.privateDnsZoneId"))) for e in items(properties, "privateDnsZoneConfigs")}
    return {each for each in found if not ids.name(each).startswith("privatelink.blob.")}


def _network(endpoint: Resource) -> str:
    return ids.key(ids.parent(str(get(endpoint.body, "properties.subnet.id"))))


@on_put("ManagedPrivateEndpoint", "mpe-target", "mpe-sku")
@models("mpe-pending")
def grafana_endpoint(put: Put) -> Iterator[Refusal]:
    wanted = str(put.properties.get("privateLinkResourceId") or "")
    groups, allowed = items(put.properties, "groupIds"), GROUPS.get(arm_type(wanted).lower())
    if put.azure.get(wanted) is None:
        message = f"The resource '{wanted}' was not found."
        yield refuse(put, "mpe-target", message, "properties.privateLinkResourceId", "ResourceNotFound")
    elif allowed is not None and not set(groups) <= allowed:
        message = f"{arm_type(wanted)} has no sub-resource {', '.join(map(str, groups))}."
        yield refuse(put, "mpe-target", message, "properties.groupIds")
    grafana = put.azure.get(ids.parent(put.id), "Grafana")
    if grafana is not None and get(grafana.body, "sku.name") != "Standard":
        message = f"Managed private endpoints need the SKU Standard of {ids.name(grafana.id)}."
        yield refuse(put, "mpe-sku", message)
