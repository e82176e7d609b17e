"""Values of kube-prometheus-stack, and where Alertmanager sends alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.kube_prometheus.names import CHART
from parts.kube_prometheus.plan import FILE, NOBODY, alertmanager_config, kube_prometheus_plan
from physical_ai.catalog.charts import pinned_charts
from physical_ai.planning.scraping import pod_monitors
from physical_ai.repository import PARTS
from physical_ai.settings import Overlay, Settings, SettingsError, load
from simulator.charts import materialise
from tests.support.charts import run

SMTP = "monitoring.smtp={host: 'smtp.contoso.com:587', sender: a@contoso.com, username: a, passwordSecret: mail}"


def dev(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(["monitoring.metrics=kube-prometheus", *assignments])]).settings


def config(*assignments: str, **secrets: str) -> dict[str, Any]:
    return alertmanager_config(dev(*assignments).monitoring, secrets)


def test_alerts_are_sent_to_the_receivers_of_their_severity() -> None:
    receivers = (
        "monitoring.receivers={team: {email: team@contoso.com}, pager: {webhookSecret: url, severities: [critical]}}"
    )
    found = config(SMTP, receivers, url="https://pager", mail="word")
    assert [(each["receiver"], each["matchers"]) for each in found["route"]["routes"]] == [
        ("team", ['severity=~"critical|warning"']),
        ("pager", ['severity=~"critical"']),
    ]
    assert all(each["continue"] for each in found["route"]["routes"])
    assert found["receivers"] == [
        {"name": NOBODY},
        {"name": "team", "email_configs": [{"to": "team@contoso.com", "send_resolved": True}]},
        {"name": "pager", "webhook_configs": [{"url": "https://pager", "send_resolved": True}]},
    ]
    assert found["global"]["smtp_auth_password"] == "word"


def test_without_receivers_no_one_is_notified() -> None:
    found = config()
    assert (found["route"]["receiver"], found["route"]["routes"]) == (NOBODY, [])
    assert "global" not in found


def test_there_is_no_plan_with_another_back_end() -> None:
    assert load("dev-westus2", [Overlay.assign(["monitoring.metrics=azure"])]).plan.parts == {}


def test_labels_are_exported_as_kube_state_metrics_lists_them() -> None:
    plan, faults = kube_prometheus_plan(dev(), PARTS)
    assert plan is not None
    assert faults == []
    assert plan.release("release").values["kube-state-metrics"]["metricLabelsAllowlist"] == [
        "nodes=[agentpool,nvidia.com/gpu.product,nvidia.com/mig.config.state]",
        "pods=[osmo.workflow_id,osmo.task_name,kai.scheduler/queue,physical-ai/pool]",
    ]


WITH_ND = (
    "pools.ndgpu={sku: Standard_ND96isr_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular,"
    " scale: {min: 0, max: 1, initial: 0}}",
)


def test_node_exporter_runs_where_there_is_infiniband_only() -> None:
    def values(*assignments: str) -> Any:
        plan, faults = kube_prometheus_plan(dev(*assignments), PARTS)
        assert plan is not None
        assert faults == []
        return plan.release("release").values

    assert values()["nodeExporter"] == {"enabled": False}
    found = values(*WITH_ND)
    assert found["nodeExporter"] == {"enabled": True}
    (term,) = found["prometheus-node-exporter"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["ndgpu"]
    monitors = {each["metadata"]["name"] for each in pod_monitors(dev(*WITH_ND))}
    assert monitors - {each["metadata"]["name"] for each in pod_monitors(dev())} == {"infiniband"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("grafana: {adminPassword: word}", "in the state as plain text"),
        ("grafana: {admin: {existingSecret: mine}}", "The program sets grafana.admin itself"),
        ("prometheus: {prometheusSpec: {retention: 3d}}", "The program sets prometheus.prometheusSpec itself"),
        ("nodeExportr: {enabled: false}", "nodeExportr"),
    ],
)
def test_a_wrong_key_of_the_values_file_is_an_error(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "values" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    _, faults = kube_prometheus_plan(dev(), tmp_path / "values")
    assert any(problem in fault.problem and fault.is_error for fault in faults), faults


def test_its_faults_stop_a_stack(tmp_path: Path) -> None:
    file = tmp_path / "values" / FILE
    file.parent.mkdir(parents=True)
    file.write_text("nodeExportr: {enabled: false}")
    with pytest.raises(SettingsError, match="nodeExportr"):
        load("dev-westus2", [Overlay.assign(["monitoring.metrics=kube-prometheus"])], values=tmp_path / "values")


SERVICES = {
    ("kube-prometheus-prometheus", "monitoring"): 9090,
    ("kube-prometheus-alertmanager", "monitoring"): 9093,
    ("kube-prometheus-operator", "monitoring"): 8080,
    ("kube-prometheus-coredns", "kube-system"): 9153,
}
"""First port of the own Services of both versions, rendered with the program's values."""


@pytest.mark.parametrize("version", [version for name, version in pinned_charts() if name == CHART])
def test_the_chart_has_the_services_that_people_forward_ports_to(version: str, tmp_path: Path) -> None:
    plan, _ = kube_prometheus_plan(dev(f"monitoring.kubePrometheusVersion={version}"), PARTS)
    assert plan is not None
    release = plan.release("release")
    folder = materialise(release.chart.name, version, tmp_path)
    printed = run("template", "kube-prometheus", str(folder), "--namespace", "monitoring", values=release.values)
    objects: list[dict[str, Any]] = [item for item in yaml.safe_load_all(printed) if item]
    found = {
        (item["metadata"]["name"], item["metadata"]["namespace"]): item["spec"]["ports"][0]["port"]
        for item in objects
        if item["kind"] == "Service"
    }
    assert SERVICES.items() <= found.items()
    (alertmanager,) = [item for item in objects if item["kind"] == "Alertmanager"]
    assert alertmanager["spec"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "cpu"}
    (operator,) = [item for item in objects if item["kind"] == "Deployment" and "operator" in item["metadata"]["name"]]
    (service,) = [
        item for item in objects if item["metadata"]["name"] == "kube-prometheus-operator" and "ports" in item["spec"]
    ]
    assert service["spec"]["selector"].items() <= operator["spec"]["template"]["metadata"]["labels"].items()
