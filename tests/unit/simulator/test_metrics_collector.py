"""What a collector does follows from deployed objects: what no selector selects, and what is missing, has no effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.metrics import collector, managed_prometheus
from simulator.metrics.collector import Collected, Objects
from tests.support.recording import Recording
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import created

Json = dict[str, Any]
CLUSTER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks-1"
WORKSPACE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Monitor/accounts/amw-1"
COLLECTION = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Insights/dataCollectionRules/dcr"
GROUPS = "/subscriptions/s/resourceGroups/g/providers/Microsoft.AlertsManagement/prometheusRuleGroups"
ALERT = {
    "alert": "A",
    "expression": "up == 0",
    "for": "PT5M",
    "labels": {"severity": "info"},
    "annotations": {"a": "b"},
}


def monitoring(namespace: str = "gpu-operator", **labels: str) -> Objects:
    metadata = {"name": "dcgm", "namespace": namespace, "labels": labels}
    monitor = {
        "metadata": metadata,
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "podMetricsEndpoints": [{"port": "metrics"}]},
    }
    rule = {"metadata": metadata, "spec": {"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "up == 0"}]}]}}
    service = {
        "metadata": {"name": "state", "namespace": namespace, "labels": {"app": "state"}},
        "spec": {"selector": {"app": "state"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    }
    of_service = {
        "metadata": metadata,
        "spec": {
            "jobLabel": "app",
            "selector": {"matchLabels": {"app": "state"}},
            "endpoints": [{"port": "http", "honorLabels": True}],
        },
    }
    kinds = {"PodMonitor": [monitor], "PrometheusRule": [rule], "ServiceMonitor": [of_service]}
    return Objects({"gpu-operator": {"team": "gpu"}, "monitoring": {}}, [service], kinds)


def prometheus(**spec: Any) -> Json:
    """One that selects everything, but for what is given; None leaves a selector out."""
    names = [f"{kind}{selector}" for kind in ("podMonitor", "serviceMonitor", "rule") for selector in SELECTORS]
    chosen: Json = {name: Json() for name in names} | spec
    found = {key: value for key, value in chosen.items() if value is not None}
    return {"metadata": {"name": "p", "namespace": "monitoring"}, "spec": found}


SELECTORS = ("Selector", "NamespaceSelector")


def found(given: Collected) -> tuple[list[str], list[str]]:
    """Names of jobs and of groups."""
    return [job.name for job in given.jobs], [group["name"] for group in given.rules["groups"]]


ALL = (["podMonitor/gpu-operator/dcgm/0", "serviceMonitor/gpu-operator/dcgm/0/state"], ["gpu-operator-dcgm-g"])


def test_the_operator_collects_what_its_selectors_select() -> None:
    assert found(collector.of_operator(prometheus(), monitoring())) == ALL


@pytest.mark.parametrize(
    ("spec", "objects", "jobs", "rules"),
    [
        ({"podMonitorSelector": {"matchLabels": {"release": "x"}}}, monitoring(), ALL[0][1:], ALL[1]),
        ({"podMonitorSelector": {"matchLabels": {"release": "x"}}}, monitoring(release="x"), *ALL),
        ({"ruleSelector": {"matchExpressions": [{"key": "role", "operator": "Exists"}]}}, monitoring(), ALL[0], []),
        ({"ruleSelector": None}, monitoring(), ALL[0], []),
        ({"ruleNamespaceSelector": None}, monitoring(), ALL[0], []),  # only its own namespace
        ({"serviceMonitorNamespaceSelector": {"matchLabels": {"team": "web"}}}, monitoring(), ALL[0][:1], ALL[1]),
        ({"serviceMonitorNamespaceSelector": {"matchLabels": {"team": "gpu"}}}, monitoring(), *ALL),
    ],
)
def test_what_no_selector_selects_has_no_effect(
    spec: Json, objects: Objects, jobs: list[str], rules: list[str]
) -> None:
    assert found(collector.of_operator(prometheus(**spec), objects)) == (jobs, rules)


def test_the_kubelets_are_scraped_by_a_monitor_of_the_chart() -> None:
    def kubelets(selector: Json | None) -> bool:
        given = prometheus(serviceMonitorSelector=selector)
        return collector.of_operator({**given, "metadata": {"name": "kp-prometheus"}}, monitoring()).kubelets

    assert kubelets({})
    assert kubelets({"matchLabels": {"release": "kp"}})
    assert not kubelets({"matchLabels": {"release": "other"}})
    assert not kubelets(None)


def test_a_monitor_of_a_service_selects_the_pods_behind_it() -> None:
    _, job = collector.of_operator(prometheus(), monitoring()).jobs
    assert (job.selection.selector, job.selection.port) == ({"matchLabels": {"app": "state"}}, "8080")
    assert {"target_label": "job", "replacement": "state"} in job.relabelings
    assert job.honor_labels


def test_a_monitor_whose_service_or_port_is_missing_selects_nothing() -> None:
    without = replace(monitoring(), services=[])
    assert found(collector.of_operator(prometheus(), without))[0] == ALL[0][:1]
    other = monitoring()
    other.services[0]["spec"]["ports"][0]["name"] = "web"
    assert found(collector.of_operator(prometheus(), other))[0] == ALL[0][:1]


def resource(kind: str, **inputs: Any) -> Json:
    return {"type": f"azure-native:module:{kind}", "inputs": inputs, "outputs": {}}


def azure() -> dict[str, Json]:
    return {
        CLUSTER: resource(
            "ManagedCluster",
            azureMonitorProfile={
                "metrics": {"enabled": True, "kubeStateMetrics": {"metricLabelsAllowlist": "nodes=[a],pods=[b,c]"}}
            },
        ),
        COLLECTION: resource(
            "DataCollectionRule",
            destinations={"monitoringAccounts": [{"name": "m", "accountResourceId": WORKSPACE}]},
            dataFlows=[{"streams": ["Microsoft-PrometheusMetrics"], "destinations": ["m"]}],
        ),
        f"{CLUSTER}/x/a": resource(
            "DataCollectionRuleAssociation", resourceUri=CLUSTER, dataCollectionRuleId=COLLECTION
        ),
        f"{GROUPS}/g": resource("PrometheusRuleGroup", scopes=[WORKSPACE], clusterName="aks-1", rules=[ALERT]),
    }


def collected(resources: dict[str, Json]) -> Collected:
    return collector.of_azure(monitoring(), CLUSTER, resources)


def test_azure_evaluates_the_groups_over_the_workspace_that_the_cluster_reaches() -> None:
    given = collected(azure())
    assert found(given) == (ALL[0], ["g"])
    assert given.rules["groups"][0]["rules"] == [
        {"alert": "A", "expr": "up == 0", "for": "300s", "labels": {"severity": "info"}, "annotations": {"a": "b"}}
    ]
    assert given.state_labels == {"nodes": ["a"], "pods": ["b", "c"]}
    assert given.cluster == "aks-1"


@pytest.mark.parametrize(
    ("id", "changes", "jobs", "groups"),
    [
        (f"{GROUPS}/g", {"scopes": [WORKSPACE.replace("amw-1", "amw-2")]}, 2, 0),
        (f"{GROUPS}/g", {"clusterName": "aks-2"}, 2, 0),
        (f"{GROUPS}/g", {"enabled": False}, 2, 0),
        (f"{CLUSTER}/x/a", {"resourceUri": CLUSTER.replace("aks-1", "aks-2")}, 0, 0),
        (f"{CLUSTER}/x/a", {"dataCollectionRuleId": "other"}, 0, 0),
        (COLLECTION, {"dataFlows": [{"streams": ["Microsoft-Syslog"], "destinations": ["m"]}]}, 0, 0),
    ],
)
def test_what_is_not_connected_is_lost(id: str, changes: Json, jobs: int, groups: int) -> None:
    resources = azure()
    resources[id]["inputs"] |= changes
    given = collected(resources)
    assert (len(given.jobs), len(given.rules["groups"])) == (jobs, groups)
    assert (given.state_labels is None) == (not given.kubelets) == (jobs == 0)


def test_the_program_declares_all_that_azure_needs(simulate: Simulate) -> None:
    """The same function over what the program declares: every alert is evaluated, every exporter scraped."""
    declared: Recording = simulate("dev-westus2", {"monitoring": {"metrics": "azure"}})
    resources: dict[str, Json] = {
        created(each.type, each.name, dict(each.inputs))[0]: {"type": each.type, "inputs": each.inputs, "outputs": {}}
        for each in declared.resources
        if each.type.startswith("azure-native")
    }
    (cluster,) = (id for id, each in resources.items() if each["type"].endswith(":ManagedCluster"))
    own = managed_prometheus.workspaces(resources, cluster)
    groups = managed_prometheus.rules(resources, cluster, own)["groups"]
    assert managed_prometheus.is_enabled(resources, cluster)
    assert len(own) == 1
    assert len(groups) == len(declared.of_type("PrometheusRuleGroup")) > 0


@pytest.mark.parametrize(("iso", "seconds"), [("PT0S", "0s"), ("PT90M", "5400s"), ("P1DT1H", "90000s")])
def test_durations_of_azure_are_iso_8601(iso: str, seconds: str) -> None:
    assert managed_prometheus.prometheus_duration(iso) == seconds
    with pytest.raises(ValueError, match="ISO 8601"):
        managed_prometheus.prometheus_duration("5m")
