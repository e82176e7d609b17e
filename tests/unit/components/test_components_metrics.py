"""Metrics in Azure: the way into the workspace, rules, receivers, Grafana, and what is scraped in the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog.aks import Role
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.rules import alerts
from tests.support.recording import Recording
from tests.unit.conftest import Simulate

GROUP = "22222222-2222-2222-2222-222222222222"
EXISTING = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Insights/actionGroups/a"
RECEIVERS = {
    "team": {"email": "team@contoso.com"},
    "pager": {"webhookSecret": "pagerUrl", "severities": ["critical"]},
    "others": {"actionGroup": EXISTING, "severities": ["info"]},
}
SECRETS = {"pagerUrl": "https://pager.contoso.com/token"}


def azure(simulate: Simulate, **monitoring: Any) -> Recording:
    return simulate("dev-westus2", {"monitoring": {"metrics": "azure", **monitoring}, "secrets": SECRETS})


def test_nothing_of_it_without_metrics(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "none"}})
    assert found.of_type("AzureMonitorWorkspace") == found.of_type("PodMonitor") == []
    assert "azureMonitorProfile" not in found.of_type("ManagedCluster")[0].inputs


def test_the_add_on_exports_the_labels_that_usage_needs(simulate: Simulate) -> None:
    profile = azure(simulate).of_type("ManagedCluster")[0].inputs["azureMonitorProfile"]["metrics"]
    assert profile["enabled"] is True
    allowed = profile["kubeStateMetrics"]["metricLabelsAllowlist"]
    pods = "osmo.workflow_id,osmo.task_name,kai.scheduler/queue,physical-ai/pool"
    assert allowed == f"nodes=[agentpool,nvidia.com/gpu.product,nvidia.com/mig.config.state],pods=[{pods}]"


def test_metrics_flow_from_the_cluster_into_the_workspace(simulate: Simulate) -> None:
    found = azure(simulate)
    (rule,), (association,) = found.of_type("DataCollectionRule"), found.of_type("DataCollectionRuleAssociation")
    (destination,) = rule.inputs["destinations"]["monitoringAccounts"]
    assert destination["accountResourceId"].endswith("/accounts/amw-physical-ai-dev-westus2")
    assert rule.inputs["dataFlows"] == [
        {"streams": ["Microsoft-PrometheusMetrics"], "destinations": [destination["name"]]}
    ]
    assert association.inputs["resourceUri"].endswith("/managedClusters/aks-physical-ai-dev-westus2")
    places = {each.inputs["location"] for each in (rule, *found.of_type("DataCollectionEndpoint"))}
    assert places == {"westus2"}


def test_rule_groups_hold_every_alert_of_the_stack_for_this_cluster_only(simulate: Simulate) -> None:
    groups = azure(simulate).of_type("PrometheusRuleGroup")
    names = [rule["alert"] for each in groups for rule in each.inputs["rules"] if "alert" in rule]
    wanted = [alert.name for alert in alerts(rule_parameters(load("dev-westus2").settings))]
    assert sorted(names) == sorted(wanted)
    assert {each.inputs["clusterName"] for each in groups} == {"aks-physical-ai-dev-westus2"}
    assert all(len(each.inputs["rules"]) <= 20 for each in groups)


def test_receivers_are_notified_of_their_severities(simulate: Simulate) -> None:
    found = azure(simulate, receivers=RECEIVERS)
    rules = [rule for each in found.of_type("PrometheusRuleGroup") for rule in each.inputs["rules"] if "alert" in rule]
    ends = {
        severity: {
            frozenset(action["actionGroupId"].rpartition("/")[2] for action in rule.get("actions", []))
            for rule in rules
            if rule["labels"]["severity"] == severity
        }
        for severity in ("critical", "warning", "info")
    }
    team, pager = "ag-physical-ai-team-dev-westus2", "ag-physical-ai-pager-dev-westus2"
    assert ends == {
        "critical": {frozenset({team, pager})},
        "warning": {frozenset({team})},
        "info": {frozenset({"a"})},
    }
    pager_group = found.resource("ActionGroup", pager)
    assert pager_group.inputs["location"] == "Global"
    assert type(pager_group.inputs["webhookReceivers"][0]["serviceUri"]).__name__ == "Secret"


def test_grafana_reads_the_workspace_and_has_the_named_roles(simulate: Simulate) -> None:
    found = azure(simulate, grafana={"principals": [{"principalId": GROUP, "role": "editor"}]})
    grafana = found.of_type("Grafana")[0].inputs
    assert len(grafana["workspaceName"]) <= 30
    assert grafana["properties"]["apiKey"] == "Disabled"
    roles = {
        each.inputs["principalId"]: each.inputs["roleDefinitionId"].rpartition("/")[2]
        for each in found.of_type("RoleAssignment")
        if each.name.startswith("physical-ai-metrics")
    }
    assert roles.pop(GROUP) == Role.GRAFANA_EDITOR
    assert list(roles.values()) == [Role.MONITORING_DATA_READER]


@pytest.mark.deep  # in `make test`: Grafana above
def test_grafana_can_be_omitted(simulate: Simulate) -> None:
    assert azure(simulate, grafana={"enabled": False}).of_type("Grafana") == []


@pytest.mark.parametrize(
    ("back_end", "group", "namespace"),
    [
        ("azure", "azmonitoring.coreos.com/v1", "kube-system"),
        ("kube-prometheus", "monitoring.coreos.com/v1", "monitoring"),
    ],
)
def test_each_exporter_is_scraped_and_reachable_for_the_scraper_only(
    simulate: Simulate, back_end: str, group: str, namespace: str
) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": back_end, "scrapeIntervalSeconds": 60}})
    monitors = found.of_type("PodMonitor")
    assert {each.inputs["metadata"]["name"] for each in monitors} == {
        "dcgm-exporter",
        "node-status-exporter",
        "gpu-operator",
        "grid-driver",
        "osmo-agents",
        "osmo-service",
    }
    for each in monitors:
        (endpoint,) = each.inputs["spec"]["podMetricsEndpoints"]
        assert each.inputs["apiVersion"] == group
        assert endpoint["interval"] == "60s"
        assert {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"} in endpoint["relabelings"]
        if each.inputs["metadata"]["name"] == "osmo-service":
            continue  # whoever runs it decides who reaches it
        policy = found.resource("NetworkPolicy", f"{each.inputs['metadata']['name']}-metrics").inputs
        assert policy["metadata"]["namespace"] == each.inputs["metadata"]["namespace"]
        assert policy["spec"]["podSelector"] == each.inputs["spec"]["selector"]
        (source,) = policy["spec"]["ingress"][0]["from"]
        assert source["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": namespace}


def test_azures_limits_are_set_or_it_drops_targets(simulate: Simulate) -> None:
    spec = azure(simulate).of_type("PodMonitor")[0].inputs["spec"]
    assert (spec["labelLimit"], spec["labelNameLengthLimit"], spec["labelValueLengthLimit"]) == (63, 511, 1023)
