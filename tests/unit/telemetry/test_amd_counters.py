"""What AMD's exporter is configured to report, how it is scraped, and what a stack without AMD's GPUs has of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from parts.amd import names as amd
from physical_ai.catalog.telemetry_rows import amd_fields
from physical_ai.nested import at
from physical_ai.planning.scraping import GROUPS, network_policies, pod_monitors
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters, series_per_pool
from physical_ai.telemetry.amd_counters import CONFIG_MAP, KEY, exporter_config, series
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rules import alerts, records
from tests.support.amd_settings import STACK, mixed_settings, planned


def test_every_series_that_a_rule_reads_is_reported() -> None:
    parameters = rule_parameters(mixed_settings())
    expressions = [each.expression for each in (*alerts(parameters), *records(parameters))]
    read = {name for text in expressions for name in metrics(text) if name.startswith("amd_")}
    assert {"amd_gpu_gfx_activity", "amd_gpu_ecc_uncorrect_total"} <= read <= {series(name) for name in amd_fields()}


def test_the_exporter_gets_its_fields_and_their_prefix() -> None:
    given = json.loads(exporter_config())
    assert given["GPUConfig"]["Fields"] == list(amd_fields())
    plan = planned()
    assert plan.exporter == {KEY: exporter_config()}
    found = plan.configs["mi300x"]["metricsExporter"]
    assert found["config"] == {"name": CONFIG_MAP}
    assert not at(found, "prometheus.serviceMonitor.enable")  # each GPU would be scraped twice


@pytest.mark.parametrize("back_end", ["azure", "kube-prometheus"])
def test_its_pods_are_scraped_with_their_node_and_by_no_other_job(back_end: Any) -> None:
    settings = mixed_settings(f"monitoring.metrics={back_end}")
    (monitor,) = (each for each in pod_monitors(settings) if each["metadata"]["namespace"] == amd.NAMESPACE)
    assert monitor["apiVersion"] == GROUPS[back_end]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["honorLabels"]) == ("exporter-port", False)
    assert {each["targetLabel"] for each in endpoint["relabelings"]} == {"node", "instance"}
    dropped = re.compile(endpoint["metricRelabelings"][0]["regex"])
    assert not [label for label in ("gpu_id", "gpu_partition_id", "pod", "node") if dropped.fullmatch(label)]
    (policy,) = (each for each in network_policies(settings) if each["metadata"]["namespace"] == amd.NAMESPACE)
    assert at(policy, "spec.ingress")[0]["ports"] == [{"port": amd.METRICS_PORT, "protocol": "TCP"}]


def test_nothing_reports_where_nothing_collects() -> None:
    settings = mixed_settings("monitoring.metrics=none")
    assert not pod_monitors(settings)
    plan = planned("monitoring.metrics=none")
    assert plan.configs["mi300x"]["metricsExporter"]["enable"] is False


def test_series_are_counted_by_gpu() -> None:
    found = series_per_pool(mixed_settings("monitoring.metrics=azure"))["mi300x"]
    assert (found.unit, found.units, found.most) == ("GPU", 8, 8 * len(amd_fields()))
    assert 0 < found.least < found.most


def test_a_stack_without_such_a_pool_has_nothing_of_it() -> None:
    parameters = rule_parameters(load(STACK).settings)
    assert not [each.name for each in alerts(parameters) if each.theme == "amd-gpus"]
    assert "amd_" not in "".join(each.expression for each in (*alerts(parameters), *records(parameters)))
