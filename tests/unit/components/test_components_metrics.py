"""Metrics in Azure: the way into the workspace, rules, receivers, Grafana, and what is scraped in the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from physical_ai.catalog.aks import Role
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.dashboards import dashboards
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


def test_prometheus_in_the_cluster(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus", "metricsRetentionDays": 30}})
    assert found.of_type("AzureMonitorWorkspace") == []
    assert "azureMonitorProfile" not in found.of_type("ManagedCluster")[0].inputs
    release = found.resource("Release", "physical-ai-kube-prometheus-release").inputs
    assert (release["chart"], release["version"]) == ("kube-prometheus-stack", "88.5.3")
    spec = release["values"]["prometheus"]["prometheusSpec"]
    assert (spec["retention"], spec["scrapeInterval"]) == ("30d", "30s")
    assert spec["podMonitorSelectorNilUsesHelmValues"] is spec["ruleSelectorNilUsesHelmValues"] is False
    rule = found.of_type("PrometheusRule")[0].inputs
    names = [each["alert"] for group in rule["spec"]["groups"] for each in group["rules"] if "alert" in each]
    assert names == [alert.name for alert in alerts(rule_parameters(load("dev-westus2").settings))]


def test_grafanas_password_is_generated_once_and_a_secret(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus"}})
    generated = found.resource("RandomPassword", "physical-ai-kube-prometheus-grafana-password")
    assert generated.inputs["length"] >= 32
    secret = found.resource("Secret", "grafana-admin")
    assert type(secret.inputs["stringData"]).__name__ == "Secret"
    assert secret.options.ignore_changes == ("data", "stringData")  # that of an earlier version remains
    values = found.resource("Release", "physical-ai-kube-prometheus-release").inputs["values"]["grafana"]
    assert values["admin"]["existingSecret"] == "grafana-admin"
    assert "adminPassword" not in values


def test_without_grafana_there_is_no_password(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus", "grafana": {"enabled": False}}})
    assert [each for each in found.of_type("Secret") if each.inputs["metadata"]["name"] == "grafana-admin"] == []


def test_nothing_is_reachable_from_outside(simulate: Simulate) -> None:
    """The values open no way in: the chart's Services are reachable in the cluster only, and it has no Ingress then."""
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus"}})

    def paths(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
        yield path, value
        if isinstance(value, Mapping):
            for key, each in cast("Mapping[str, Any]", value).items():
                yield from paths(each, f"{path}.{key}")

    values = found.resource("Release", "physical-ai-kube-prometheus-release").inputs["values"]
    opened = [path for path, value in paths(values) if path.endswith((".ingress", ".route")) or value in OPEN]
    assert opened == []
    namespaces = {each.inputs["metadata"]["namespace"] for each in found.of_type("NetworkPolicy")}
    assert {"monitoring", "gpu-operator"} <= namespaces


OPEN = ("LoadBalancer", "NodePort")


def test_only_the_namespace_itself_reaches_prometheus_and_grafana(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus"}})
    policy = found.resource("NetworkPolicy", "same-namespace").inputs
    assert policy["metadata"]["namespace"] == "monitoring"
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": {}}]}]


def test_the_namespace_exists_with_prometheus_in_it_only(simulate: Simulate) -> None:
    def names(back_end: str) -> list[str]:
        found = simulate("dev-westus2", {"monitoring": {"metrics": back_end}}).of_type("Namespace")
        return [each.inputs["metadata"]["name"] for each in found]

    assert "monitoring" in names("kube-prometheus")
    assert "monitoring" not in names("azure")


def test_grafana_loads_the_dashboards(simulate: Simulate) -> None:
    def loaded(enabled: bool) -> list[str]:
        settings = {"monitoring": {"metrics": "kube-prometheus", "grafana": {"enabled": enabled}}}
        maps = simulate("dev-westus2", settings).of_type("ConfigMap")
        chosen = [each.inputs for each in maps if each.inputs["metadata"].get("labels") == {"grafana_dashboard": "1"}]
        return [name for each in chosen for name in each["data"]]

    shown = {f"{each.name}.json" for each in dashboards()} - {"osmo-service.json"}
    assert set(loaded(True)) == shown  # the service is another cluster's
    assert loaded(False) == []
