"""What the simulated Azure refuses of monitor workspaces, data collection, rule groups, action groups and Grafana."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.azure_fakes import GROUP, Azure

INSIGHTS = "Microsoft.Insights"
RECORD = {"record": "a:b", "expression": "up"}
ALERT = {"alert": "A", "expression": "up == 0", "for": "PT5M", "severity": 2}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    found = Azure(tmp_path / "azure.json")
    found.group()
    found.put("AzureMonitorWorkspace", azureMonitorWorkspaceName="amw-1", location="westus2")
    found.put("DataCollectionEndpoint", dataCollectionEndpointName="dce", location="westus2", kind="Linux")
    return found


def broken(azure: Azure, kind: str, inputs: dict[str, Any]) -> set[str]:
    """The rules that a PUT breaks."""
    group = {} if kind == "DataCollectionRuleAssociation" else {"resourceGroupName": GROUP}
    return azure.rules(kind, {**group, **inputs})


def collection(azure: Azure, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "dataCollectionRuleName": "dcr",
        "location": "westus2",
        "kind": "Linux",
        "dataCollectionEndpointId": azure.id(f"{INSIGHTS}/dataCollectionEndpoints/dce"),
        "destinations": {
            "monitoringAccounts": [{"name": "m", "accountResourceId": azure.id("Microsoft.Monitor/accounts/amw-1")}]
        },
        "dataFlows": [{"streams": ["Microsoft-PrometheusMetrics"], "destinations": ["m"]}],
    }
    return {**given, **changes}


def rules(azure: Azure, **changes: Any) -> dict[str, Any]:
    scope = azure.id("Microsoft.Monitor/accounts/amw-1")
    given = {
        "ruleGroupName": "g",
        "location": "westus2",
        "scopes": [scope],
        "interval": "PT1M",
        "rules": [ALERT, RECORD],
    }
    return {**given, **changes}


def test_a_collection_of_metrics(azure: Azure) -> None:
    assert broken(azure, "DataCollectionRule", collection(azure)) == set()
    rule = azure.put("DataCollectionRule", **collection(azure))
    assert broken(azure, "DataCollectionRule", collection(azure, kind="Windows")) == {"dcr-kind"}
    here = azure.id("Microsoft.Monitor/accounts/amw-1")
    given = {"resourceUri": here, "associationName": "a", "dataCollectionRuleId": rule.id}
    assert broken(azure, "DataCollectionRuleAssociation", given) == set()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"dataFlows": [{"streams": ["Microsoft-PrometheusMetrics"], "destinations": ["n"]}]}, "dcr-dest-ref"),
        ({"location": "eastus2"}, "dcr-region"),
    ],
)
def test_a_collection_that_leads_nowhere(azure: Azure, changes: dict[str, Any], rule: str) -> None:
    assert rule in broken(azure, "DataCollectionRule", collection(azure, **changes))


def test_destinations_have_names_of_their_own(azure: Azure) -> None:
    one = {"name": "m", "accountResourceId": azure.id("Microsoft.Monitor/accounts/amw-1")}
    given = collection(azure, destinations={"monitoringAccounts": [one, one]})
    assert broken(azure, "DataCollectionRule", given) == {"dcr-dest-unique"}


def test_an_association_names_one_thing(azure: Azure) -> None:
    here = azure.id("Microsoft.Monitor/accounts/amw-1")
    endpoint = azure.id(f"{INSIGHTS}/dataCollectionEndpoints/dce")
    given = {"resourceUri": here, "associationName": "a"}
    assert broken(azure, "DataCollectionRuleAssociation", given) == {"dcra-one"}
    found = broken(azure, "DataCollectionRuleAssociation", {**given, "dataCollectionEndpointId": endpoint})
    assert found == {"dcra-dce-name"}
    missing = azure.id(f"{INSIGHTS}/dataCollectionRules/none")
    found = broken(azure, "DataCollectionRuleAssociation", {**given, "dataCollectionRuleId": missing})
    assert found == {"arm-ref-missing"}


def test_a_rule_group(azure: Azure) -> None:
    assert broken(azure, "PrometheusRuleGroup", rules(azure)) == set()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"scopes": []}, "prg-scopes"),
        ({"location": "eastus2"}, "prg-scopes"),
        ({"interval": "PT30S"}, "prg-interval"),
        ({"interval": "PT16M"}, "prg-interval"),
        ({"rules": [ALERT] * 21}, "prg-count"),
        ({"rules": [{"expression": "up"}]}, "prg-rule"),
        ({"rules": [{**ALERT, **RECORD}]}, "prg-rule"),
        ({"rules": [{**RECORD, "severity": 1}]}, "prg-record-fields"),
        ({"rules": [{**ALERT, "severity": 5}]}, "prg-severity"),
    ],
)
def test_a_rule_group_that_azure_refuses(azure: Azure, changes: dict[str, Any], rule: str) -> None:
    assert rule in broken(azure, "PrometheusRuleGroup", rules(azure, **changes))


def test_an_alert_notifies_an_action_group_that_exists(azure: Azure) -> None:
    group = azure.id(f"{INSIGHTS}/actionGroups/team")
    given = rules(azure, rules=[{**ALERT, "actions": [{"actionGroupId": group}]}])
    assert broken(azure, "PrometheusRuleGroup", given) == {"arm-ref-missing"}
    azure.put("ActionGroup", actionGroupName="team", location="Global", groupShortName="team", enabled=True)
    assert broken(azure, "PrometheusRuleGroup", given) == set()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"location": "westus2"}, "ag-location"),
        ({"groupShortName": "longer-than-12"}, "ag-short"),
        ({"emailReceivers": [{"name": "a", "emailAddress": "nobody"}]}, "ag-email"),
        ({"emailReceivers": [{"name": "a", "emailAddress": "a@b.de"}] * 2}, "ag-names"),
    ],
)
def test_an_action_group_that_azure_refuses(azure: Azure, changes: dict[str, Any], rule: str) -> None:
    given = {"actionGroupName": "team", "location": "Global", "groupShortName": "team", "enabled": True, **changes}
    assert rule in broken(azure, "ActionGroup", given)


def test_zones_of_grafana_are_fixed(azure: Azure) -> None:
    given: dict[str, Any] = {"workspaceName": "graf-dev", "location": "westus2", "sku": {"name": "Standard"}}
    azure.put("Grafana", **given, properties={"zoneRedundancy": "Disabled"})
    assert broken(azure, "Grafana", {**given, "properties": {"zoneRedundancy": "Enabled"}}) == {"graf-zone"}
    assert broken(azure, "Grafana", {**given, "workspaceName": "g" * 31}) == {"graf-name"}
    missing = {
        "azureMonitorWorkspaceIntegrations": [
            {"azureMonitorWorkspaceResourceId": azure.id("Microsoft.Monitor/accounts/x")}
        ]
    }
    assert broken(azure, "Grafana", {**given, "properties": {"grafanaIntegrations": missing}}) == {"arm-ref-missing"}
