"""Private link scopes of Azure Monitor: what the stand-in refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from tests.support.azure_fakes import GROUP, NETWORK, Azure, space

MODES = {"ingestionAccessMode": "PrivateOnly", "queryAccessMode": "PrivateOnly"}
SCOPE = {"resourceGroupName": GROUP, "scopeName": "ampls", "location": "global", "accessModeSettings": MODES}
ENTRY = {"resourceGroupName": GROUP, "scopeName": "ampls", "name": "logs"}
ZONES = ("privatelink.monitor.azure.com", "privatelink.blob.core.windows.net")
WAY = {
    "resourceGroupName": GROUP,
    "workspaceName": "graf-dev",
    "managedPrivateEndpointName": "metrics",
    "location": "westus2",
    "groupIds": ["prometheusMetrics"],
}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    """A network, a workspace in a scope, and a workspace of metrics with Grafana."""
    made = Azure(tmp_path / "azure.json")
    made.network()
    made.subnet("endpoints", "10.100.2.0/26")
    made.put("Workspace", workspaceName="log-dev", location="westus2", sku={"name": "PerGB2018"})
    made.put("AzureMonitorWorkspace", azureMonitorWorkspaceName="amw-dev", location="westus2")
    made.put("Grafana", workspaceName="graf-dev", location="westus2", sku={"name": "Standard"})
    made.put("PrivateLinkScope", **SCOPE)
    made.put("PrivateLinkScopedResource", **ENTRY, linkedResourceId=logs(made))
    return made


def logs(azure: Azure) -> str:
    return azure.id("Microsoft.OperationalInsights/workspaces/log-dev")


def metrics(azure: Azure) -> str:
    return azure.id("Microsoft.Monitor/accounts/amw-dev")


def scope(azure: Azure, name: str = "ampls") -> str:
    return azure.id(f"Microsoft.Insights/privateLinkScopes/{name}")


def endpoint(azure: Azure, name: str, target: str, group: str, network: str = "vnet") -> dict[str, Any]:
    connection = {"name": "c", "privateLinkServiceId": target, "groupIds": [group]}
    return {
        "resourceGroupName": GROUP,
        "privateEndpointName": name,
        "location": "westus2",
        "subnet": {"id": azure.id(f"{NETWORK}/virtualNetworks/{network}/subnets/endpoints")},
        "privateLinkServiceConnections": [connection],
    }


def registration(azure: Azure, name: str, *zones: str) -> dict[str, Any]:
    configs = [{"name": each, "privateDnsZoneId": azure.id(f"{NETWORK}/privateDnsZones/{each}")} for each in zones]
    own = {"resourceGroupName": GROUP, "privateEndpointName": name, "privateDnsZoneGroupName": "default"}
    return {**own, "privateDnsZoneConfigs": configs}


def test_a_scope_is_global_and_has_access_modes(azure: Azure) -> None:
    assert azure.rules("PrivateLinkScope", {**SCOPE, "location": "westus2"}) == {"ampls-location"}
    assert azure.rules("PrivateLinkScope", {**SCOPE, "accessModeSettings": {**MODES, "queryAccessMode": "Closed"}})


def test_a_scope_takes_workspaces_and_data_collection_endpoints_that_exist(azure: Azure) -> None:
    entry = {**ENTRY, "name": "other"}
    assert azure.rules("PrivateLinkScopedResource", {**entry, "linkedResourceId": metrics(azure)}) == {
        "ampls-connected"
    }
    missing = azure.id("Microsoft.OperationalInsights/workspaces/none")
    assert azure.rules("PrivateLinkScopedResource", {**entry, "linkedResourceId": missing}) == {"ampls-connected"}
    assert azure.rules("PrivateLinkScopedResource", {**entry, "linkedResourceId": logs(azure)}) == {
        "ampls-connected-once"
    }
    away = {**entry, "scopeName": "none", "linkedResourceId": logs(azure)}
    assert azure.rules("PrivateLinkScopedResource", away) == {"arm-child-parent"}


def test_an_entry_keeps_its_resource_and_a_resource_is_in_five_scopes_at_most(azure: Azure) -> None:
    azure.put("Workspace", workspaceName="log-two", location="westus2", sku={"name": "PerGB2018"})
    moved = {**ENTRY, "linkedResourceId": azure.id("Microsoft.OperationalInsights/workspaces/log-two")}
    assert azure.rules("PrivateLinkScopedResource", moved) == {"ampls-connected-fixed"}
    others = [f"ampls-{number}" for number in range(2, 7)]
    entries = [{**ENTRY, "scopeName": each, "linkedResourceId": logs(azure)} for each in others]
    for each in others:
        azure.put("PrivateLinkScope", **{**SCOPE, "scopeName": each})
    for each in entries[:4]:
        azure.put("PrivateLinkScopedResource", **each)
    assert azure.rules("PrivateLinkScopedResource", entries[4]) == {"ampls-resource-limit"}


def test_what_is_in_a_scope_is_disconnected_before_it_is_deleted(azure: Azure) -> None:
    with pytest.raises(ArmError) as refused:
        azure.cloud.delete(logs(azure))
    assert refused.value.refusal.rule == "ampls-in-use"
    (seen,) = azure.cloud.azure().of_kind("Workspace")
    found = azure.cloud.get(seen.id)
    assert found is not None
    assert [each["scopeId"] for each in found.outputs["privateLinkScopedResources"]] == [scope(azure)]
    azure.cloud.delete(f"{scope(azure)}/scopedResources/logs")
    azure.cloud.delete(logs(azure))


def test_endpoints_have_the_sub_resource_of_what_they_lead_to(azure: Azure) -> None:
    assert not azure.rules("PrivateEndpoint", endpoint(azure, "pep", scope(azure), "azuremonitor"))
    assert not azure.rules("PrivateEndpoint", endpoint(azure, "pep", metrics(azure), "prometheusMetrics"))
    assert azure.rules("PrivateEndpoint", endpoint(azure, "pep", scope(azure), "monitor")) == {"pe-group"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, "pep", metrics(azure), "azuremonitor")) == {"pe-group"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, "pep", scope(azure, "none"), "azuremonitor")) == {"pe-target"}


def test_a_network_is_connected_to_one_scope(azure: Azure) -> None:
    for zone in ZONES:
        azure.put("PrivateDnsZone", privateZoneName=zone, location="global")
    azure.put("PrivateLinkScope", **{**SCOPE, "scopeName": "second"})
    azure.put("PrivateEndpoint", **endpoint(azure, "first", scope(azure), "azuremonitor"))
    azure.put("PrivateDnsZoneGroup", **registration(azure, "first", *ZONES))
    azure.put("PrivateEndpoint", **endpoint(azure, "second", scope(azure, "second"), "azuremonitor"))
    assert azure.rules("PrivateDnsZoneGroup", registration(azure, "second", *ZONES)) == {"ampls-one-network"}
    # Another endpoint of the same scope has the same names.
    azure.put("PrivateEndpoint", **endpoint(azure, "again", scope(azure), "azuremonitor"))
    assert not azure.rules("PrivateDnsZoneGroup", registration(azure, "again", *ZONES))
    # From another network, with zones of its own but that of blobs.
    azure.put("VirtualNetwork", virtualNetworkName="apart", location="westus2", **space("10.200.0.0/16"))
    bare = {"natGateway": None, "networkSecurityGroup": None, "virtualNetworkName": "apart"}
    azure.subnet("endpoints", "10.200.0.0/26", **bare)
    azure.put("PrivateEndpoint", **endpoint(azure, "far", scope(azure, "second"), "azuremonitor", "apart"))
    assert not azure.rules("PrivateDnsZoneGroup", registration(azure, "far", ZONES[1]))
    assert azure.rules("PrivateDnsZoneGroup", registration(azure, "far", *ZONES)) == {"ampls-one-network"}


def test_grafanas_own_endpoint_waits_for_an_approval(azure: Azure) -> None:
    made = azure.put("ManagedPrivateEndpoint", **WAY, privateLinkResourceId=metrics(azure))
    assert made.outputs["connectionState"]["status"] == "Pending"
    wrong = {**WAY, "privateLinkResourceId": metrics(azure), "groupIds": ["azuremonitor"]}
    assert azure.rules("ManagedPrivateEndpoint", wrong) == {"mpe-target"}
    missing = {**WAY, "privateLinkResourceId": azure.id("Microsoft.Monitor/accounts/none")}
    assert azure.rules("ManagedPrivateEndpoint", missing) == {"mpe-target"}
    azure.put("Grafana", workspaceName="graf-small", location="westus2", sku={"name": "Essential"})
    small = {**WAY, "workspaceName": "graf-small", "privateLinkResourceId": metrics(azure)}
    assert azure.rules("ManagedPrivateEndpoint", small) == {"mpe-sku"}
