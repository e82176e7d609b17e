"""Outputs that Azure computes for Azure Monitor workspaces and Managed Grafana."""

from __future__ import annotations

from simulator.azure import ids
from simulator.azure.bodies import Json, get
from simulator.azure.guids import guid
from simulator.azure.offers import location
from simulator.azure.registry import models
from simulator.azure.state import SUCCEEDED, AzureState, Resource


@models("amw-managed")
def monitor_workspace(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    name, place = ids.name(resource.id), location(str(outputs.get("location", "")))
    group = f"/subscriptions/{azure.directory.subscription}/resourceGroups/MA_{name}_{place}_managed"
    query = f"{name}-{guid(resource, 'query')[:4]}"
    made = f"{group}/providers/Microsoft.Insights"
    return {
        "accountId": guid(resource, "account"),
        "publicNetworkAccess": outputs.get("publicNetworkAccess", "Enabled"),
        "metrics": {
            "internalId": f"mac_{guid(resource, 'internal')}",
            "prometheusQueryEndpoint": f"https://{query}.{place}.prometheus.monitor.azure.com",
        },
        "defaultIngestionSettings": {
            "dataCollectionEndpointResourceId": f"{made}/dataCollectionEndpoints/{name}",
            "dataCollectionRuleResourceId": f"{made}/dataCollectionRules/{name}",
        },
    }


def scoped(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    """The Azure Monitor Private Link Scopes that a workspace or a data collection endpoint belongs to."""
    found = [
        each
        for each in azure.of_kind("PrivateLinkScopedResource")
        if ids.same(get(each.body, "properties.linkedResourceId"), resource.id)
    ]
    return {"privateLinkScopedResources": [{"resourceId": each.id, "scopeId": ids.parent(each.id)} for each in found]}


def monitor_scope(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    connected = [
        {"id": f"{resource.id}/privateEndpointConnections/{ids.name(each.id)}", "privateEndpoint": {"id": each.id}}
        for each in azure.of_kind("PrivateEndpoint")
        for link in get(each.body, "properties.privateLinkServiceConnections") or ()
        if ids.same(get(link, "properties.privateLinkServiceId"), resource.id)
    ]
    return {"privateEndpointConnections": connected}


def managed_endpoint(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    """Outputs of a managed private endpoint: always pending, because only the target's owner can approve the
    connection.
    """
    return {"connectionState": {"status": "Pending", "description": ""}, "privateLinkServicePrivateIP": ""}


def grafana(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    place = location(str(outputs.get("location", "")))
    address = f"https://{ids.name(resource.id)}-{guid(resource, 'address')[:8]}.{place}.grafana.azure.com"
    identity: Json = outputs.get("identity", {})
    used = {each: _identity(each, azure) for each in identity.get("userAssignedIdentities", [])}
    return {
        "identity": {**identity, "userAssignedIdentities": used},
        "properties": {**outputs.get("properties", {}), "endpoint": address, "provisioningState": SUCCEEDED},
    }


def _identity(identity_id: str, azure: AzureState) -> Json:
    resource = azure.get(identity_id, "UserAssignedIdentity")
    return {name: resource.outputs.get(name) for name in ("clientId", "principalId")} if resource is not None else {}
