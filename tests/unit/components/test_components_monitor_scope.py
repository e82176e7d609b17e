"""Azure Monitor in a private network: the scope and its entries, zones, what is closed, and how agents reach it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recording import Recording
from tests.unit.components.test_components_private import PEERED, RESOLVER, VPN, network, only, waits_for
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.policies import evaluate

METRICS: dict[str, Any] = {"monitoring": {"metrics": "azure"}}
LOGS: dict[str, Any] = {"monitoring": {"metrics": "none", "dailyQuotaGb": 5, "containerLogs": {}}}
PRIVATE = network("private", vpn=VPN, resolver=RESOLVER)
DATA: dict[str, Any] = {"dataServices": {"source": "azure"}}
OTHER = "99999999-0000-4000-8000-000000000009"
SCOPE = "/subscriptions/{}/resourceGroups/rg-hub/providers/Microsoft.Insights/privateLinkScopes/ampls-hub"
ZONES = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-dns"


def groups(stack: Recording) -> list[str]:
    return sorted(e.inputs["privateLinkServiceConnections"][0]["groupIds"][0] for e in stack.of_type("PrivateEndpoint"))


def zone_names(stack: Recording) -> list[str]:
    return sorted(each.inputs["privateZoneName"] for each in stack.of_type("PrivateZone"))


@pytest.mark.deep  # in `make test`: a private stack with metrics below
def test_a_private_stack_without_metrics_has_none_of_it(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**PRIVATE, **DATA})
    assert stack.of_type("PrivateLinkScope") == stack.of_type("PrivateLinkScopedResource") == []
    assert "publicNetworkAccessForIngestion" not in stack.of_type("Workspace")[0].inputs


def test_metrics_and_logs_of_a_private_stack_have_no_public_access(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**PRIVATE, **DATA, **METRICS})
    modes = only(stack, "PrivateLinkScope").inputs["accessModeSettings"]
    assert modes == {"ingestionAccessMode": "PrivateOnly", "queryAccessMode": "PrivateOnly"}
    workspace = only(stack, "Workspace").inputs
    assert workspace["publicNetworkAccessForIngestion"] == workspace["publicNetworkAccessForQuery"] == "Disabled"
    assert only(stack, "AzureMonitorWorkspace").inputs["publicNetworkAccess"] == "Disabled"
    assert only(stack, "Grafana").inputs["properties"]["publicNetworkAccess"] == "Disabled"
    endpoints = stack.of_type("DataCollectionEndpoint")
    assert {each.inputs["networkAcls"]["publicNetworkAccess"] for each in endpoints} == {"Disabled"}
    assert len(endpoints) == 2
    assert [each for each in evaluate(stack.stack) if "private" in each.rule] == []


def test_the_scope_has_the_workspace_and_both_endpoints_before_its_own_endpoint(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**PRIVATE, **METRICS})
    entries = stack.of_type("PrivateLinkScopedResource")
    linked = sorted(each.inputs["linkedResourceId"].rpartition("/")[2] for each in entries)
    names = ("dc-physical-ai", "dce-physical-ai", "log-physical-ai")
    assert linked == [f"{each}-dev-westus2" for each in names]
    # One after the other.
    own = {each.name for each in entries}
    assert sorted(len(waits_for(each) & own) for each in entries) == [0, 1, 1]
    endpoint = next(e for e in stack.of_type("PrivateEndpoint") if e.name.endswith("-monitor"))
    assert own <= waits_for(endpoint)


def test_each_zone_exists_once_and_blobs_share_that_of_storage(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**PRIVATE, **DATA, **METRICS})
    found = [each for each in zone_names(stack) if not each.endswith("azmk8s.io")]
    assert len(found) == len(set(found)) == 11
    assert {
        "privatelink.monitor.azure.com",
        "privatelink.oms.opinsights.azure.com",
        "privatelink.ods.opinsights.azure.com",
        "privatelink.agentsvc.azure-automation.net",
        "privatelink.blob.core.windows.net",
        "privatelink.westus2.prometheus.monitor.azure.com",
        "privatelink.grafana.azure.com",
    } <= set(found)
    assert {"azuremonitor", "prometheusMetrics", "grafana"} <= set(groups(stack))
    registration = next(e for e in stack.of_type("PrivateDnsZoneGroup") if e.name.endswith("-monitor-registration"))
    zones = [each["privateDnsZoneId"].rpartition("/")[2] for each in registration.inputs["privateDnsZoneConfigs"]]
    assert len(zones) == 5
    assert "privatelink.blob.core.windows.net" in zones


def test_without_data_services_the_zone_of_blobs_is_there_too(simulate: Simulate) -> None:
    assert "privatelink.blob.core.windows.net" in zone_names(simulate("dev-westus2", {**PRIVATE, **METRICS}))


@pytest.mark.parametrize("monitoring", [METRICS, LOGS], ids=["metrics", "logs"])
def test_agents_take_their_configuration_from_an_endpoint_in_the_scope(
    simulate: Simulate, monitoring: dict[str, Any]
) -> None:
    stack = simulate("dev-westus2", {**PRIVATE, **monitoring})
    association = only(stack, "DataCollectionRuleAssociation", associationName="configurationAccessEndpoint").inputs
    assert association["dataCollectionEndpointId"].endswith("/dce-physical-ai-dev-westus2")
    assert association["resourceUri"].endswith("/managedClusters/aks-physical-ai-dev-westus2")
    assert all(each.inputs["dataCollectionEndpointId"] for each in stack.of_type("DataCollectionRule"))


def test_grafana_reaches_the_closed_workspace_by_an_endpoint_of_its_own(simulate: Simulate) -> None:
    way = only(simulate("dev-westus2", {**PRIVATE, **METRICS}), "ManagedPrivateEndpoint").inputs
    assert way["privateLinkResourceId"].endswith("/accounts/amw-physical-ai-dev-westus2")
    assert way["groupIds"] == ["prometheusMetrics"]


@pytest.mark.deep  # in `make test`: the closed workspace above
def test_with_a_public_api_server_people_read_from_the_internet(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**network("hybrid"), **DATA, **METRICS})
    workspace = only(stack, "Workspace").inputs
    assert workspace["publicNetworkAccessForIngestion"] == "Disabled"
    assert "publicNetworkAccessForQuery" not in workspace
    assert only(stack, "PrivateLinkScope").inputs["accessModeSettings"]["queryAccessMode"] == "Open"
    assert only(stack, "Grafana").inputs["properties"]["publicNetworkAccess"] == "Enabled"
    assert not stack.of_type("ManagedPrivateEndpoint")
    assert "prometheusMetrics" not in groups(stack)
    assert [each for each in evaluate(stack.stack) if "private" in each.rule] == []


@pytest.mark.deep  # in `make test`: the closed workspace above
def test_azure_monitor_may_stay_public_which_is_a_finding(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**network("private", runnersInside=True, monitor={"access": "public"}), **METRICS})
    assert not stack.of_type("PrivateLinkScope")
    found = {each.rule for each in evaluate(stack.stack) if "private" in each.rule}
    assert found == {"private-monitor-closed"}


@pytest.mark.parametrize("subscription", [SUBSCRIPTION, pytest.param(OTHER, marks=pytest.mark.deep)])
def test_an_existing_scope_gets_entries_and_no_endpoint(simulate: Simulate, subscription: str) -> None:
    hub = {**PEERED, "dnsZones": ZONES}
    settings = network("private", hub=hub, monitor={"scope": SCOPE.format(subscription)})
    stack = simulate("dev-westus2", {**settings, **METRICS})
    assert not stack.of_type("PrivateLinkScope")
    entries = stack.of_type("PrivateLinkScopedResource")
    assert {(each.inputs["resourceGroupName"], each.inputs["scopeName"]) for each in entries} == {
        ("rg-hub", "ampls-hub")
    }
    providers = {each.options.provider.rpartition("::")[2] for each in entries}
    assert (OTHER in " ".join(providers)) is (subscription == OTHER)
    assert groups(stack) == ["grafana", "prometheusMetrics"]
