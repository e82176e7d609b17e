"""Prometheus' configuration: jobs from PodMonitors, targets of Pods, and rules for a faster clock."""

from __future__ import annotations

import pytest

from simulator.metrics import discovery, jobs, scraping, speed
from simulator.metrics.collector import Collected

POD = {
    "metadata": {"name": "exporter-1", "namespace": "gpu-operator", "labels": {"app": "exporter"}},
    "spec": {
        "nodeName": "aks-h100-1",
        "containers": [{"name": "main", "ports": [{"name": "metrics", "containerPort": 9400}]}, {"name": "other"}],
    },
    "status": {"phase": "Running", "podIP": "10.0.0.4"},
}


@pytest.mark.parametrize(
    ("selected", "found"),
    [
        (discovery.Selection(frozenset({"gpu-operator"}), {"matchLabels": {"app": "exporter"}}, "metrics"), True),
        (discovery.Selection(frozenset(), {}, "9400"), True),
        (discovery.Selection(frozenset({"default"}), {}, "metrics"), False),
        (discovery.Selection(frozenset(), {"matchLabels": {"app": "other"}}, "metrics"), False),
        (discovery.Selection(frozenset(), {}, "web"), False),
    ],
)
def test_a_target_is_a_port_that_a_monitor_selects(selected: discovery.Selection, found: bool) -> None:
    assert discovery.selection(discovery.query(selected)) == selected
    groups = discovery.targets([POD], selected, "127.0.0.1:1")
    assert bool(groups) is found
    for group in groups:
        assert group["labels"]["__metrics_path__"] == "/pods/gpu-operator/exporter-1/metrics"
        assert group["labels"]["__meta_kubernetes_pod_node_name"] == "aks-h100-1"


def test_a_pod_that_has_ended_is_no_target() -> None:
    ended = {**POD, "status": {"phase": "Succeeded"}}
    assert discovery.targets([ended], discovery.Selection(frozenset(), {}, "metrics"), "") == []


def test_a_monitor_becomes_a_job_as_the_prometheus_operator_makes_it() -> None:
    monitor = {
        "metadata": {"name": "dcgm", "namespace": "gpu-operator"},
        "spec": {
            "labelLimit": 63,
            "selector": {"matchLabels": {"app": "exporter"}},
            "podMetricsEndpoints": [
                {
                    "port": "metrics",
                    "relabelings": [{"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}],
                    "metricRelabelings": [{"regex": "pci_bus_id", "action": "labeldrop"}],
                }
            ],
        },
    }
    given = Collected(jobs.pod_jobs(monitor), {}, {"pods": ["a", "b"]}, cluster="aks-test")
    found = scraping.configuration(given, "127.0.0.1:1", "127.0.0.1:2", 0.5)
    job, kube_state, cadvisor = found["scrape_configs"]
    assert job["job_name"] == "podMonitor/gpu-operator/dcgm/0"
    assert job["honor_labels"] is False
    assert "exporter" in job["http_sd_configs"][0]["url"]
    assert (job["label_limit"], kube_state["params"]) == (63, {"pods": ["a,b"]})
    assert {"source_labels": ["__meta_kubernetes_pod_node_name"], "target_label": "node"} in job["relabel_configs"]
    assert job["metric_relabel_configs"] == [{"regex": "pci_bus_id", "action": "labeldrop"}]
    assert kube_state["honor_labels"] is True
    assert cadvisor["metrics_path"] == "/cadvisor/metrics"
    assert found["global"]["scrape_interval"] == "500ms"


def test_rules_hold_for_a_shorter_time_on_a_faster_clock() -> None:
    rule = {"alert": "A", "expr": "rate(b[5m]) > 0", "for": "30m", "labels": {"severity": "info"}}
    (group,) = speed.rules({"groups": [{"name": "g", "interval": "60s", "rules": [rule]}]}, 120, 0.5)["groups"]
    assert group["interval"] == "500ms"
    assert group["rules"] == [{**rule, "expr": "rate(b[2500ms]) > 0", "for": "15000ms"}]
