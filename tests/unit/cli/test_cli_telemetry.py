"""What `physai up --telemetry` does and says of a stack that collects no metrics."""

from __future__ import annotations

from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.telemetry import METRIC_LABELS, rule_parameters
from physical_ai.telemetry.rules import alerts
from simulator.metrics import scraping
from workbench.cli.simulated_telemetry import by_settings, missing_counters


def test_only_a_stack_without_metrics_lacks_counters() -> None:
    assert "--set monitoring.metrics=azure" in missing_counters(load("dev-westus2").settings)
    measured = load("dev-westus2", [Overlay.assign(["monitoring.metrics=azure"])]).settings
    assert missing_counters(measured) == ""


def test_a_stack_without_a_collector_gets_what_follows_from_its_settings() -> None:
    settings = load("dev-westus2").settings
    found = by_settings(settings, "aks-dev")
    names = [rule["alert"] for group in found.rules["groups"] for rule in group["rules"] if "alert" in rule]
    assert sorted(names) == sorted(alert.name for alert in alerts(rule_parameters(settings)))
    jobs = scraping.configuration(found, "127.0.0.1:1", "127.0.0.1:2", 1)["scrape_configs"]
    (state,) = (job for job in jobs if job["job_name"] == "kube-state-metrics")
    assert ",".join(f"{kind}=[{labels}]" for kind, (labels,) in state["params"].items()) == METRIC_LABELS
    assert {"target_label": "cluster", "replacement": "aks-dev"} in state["relabel_configs"]
