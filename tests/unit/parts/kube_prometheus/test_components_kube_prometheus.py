"""Prometheus in the cluster: its release, rules, the password of Grafana, dashboards, and who reaches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from physical_ai.catalog.charts import newest_chart
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.dashboards import dashboards
from physical_ai.telemetry.rules import alerts
from tests.unit.conftest import Simulate


def test_prometheus_in_the_cluster(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus", "metricsRetentionDays": 30}})
    assert found.of_type("AzureMonitorWorkspace") == []
    assert "azureMonitorProfile" not in found.of_type("ManagedCluster")[0].inputs
    release = found.resource("Release", "physical-ai-kube-prometheus-release").inputs
    assert (release["chart"], release["version"]) == (
        "kube-prometheus-stack",
        newest_chart("kube-prometheus-stack").version,
    )
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
