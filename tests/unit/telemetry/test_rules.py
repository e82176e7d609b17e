"""The rules as data, and the rules of a stack that follow from them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import yaml

from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Override, Parameters, metric_resource
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rendering import azure_rule_groups, prometheus_rule, rule_file
from physical_ai.telemetry.rule_rows import alert_rows
from physical_ai.telemetry.rules import alerts, records
from tests.support.dra_settings import POOL
from tests.support.gpu_settings import given_settings

STACKS = ["dev-westus2", "prod-swedencentral", "seed-westus2"]


def of(stack: str) -> Parameters:
    return rule_parameters(load(stack).settings)


def names(parameters: Parameters) -> set[str]:
    return {alert.name for alert in alerts(parameters)}


def series_needed(parameters: Parameters) -> frozenset[str]:
    """Names of the series that the rules of a stack read, but for those that its rules record."""
    found = [each.expression for each in (*alerts(parameters), *records(parameters))]
    own = {each.row.record for each in records(parameters)}
    return frozenset(name for expression in found for name in metrics(expression)) - own


@pytest.mark.parametrize("stack", STACKS)
def test_every_expression_is_complete(stack: str) -> None:
    found = [each.expression for each in (*alerts(of(stack)), *records(of(stack)))]
    assert found
    for expression in found:
        assert not re.search(r"\$(?!1)", expression), expression
        assert expression.count("(") == expression.count(")")


def test_pool_rules_have_the_numbers_of_their_pool() -> None:
    parameters = of("dev-westus2")
    most = {pool.name: pool.most for pool in parameters.pools}
    found = {alert.pool: alert for alert in alerts(parameters) if alert.name == "GPUPoolAtMaximum"}
    assert found.keys() == most.keys()
    assert len(most) == 2
    for pool, alert in found.items():
        assert f'physical_ai:node_pool{{pool="{pool}"}}) >= {most[pool or ""]}' in alert.expression
        assert alert.summary == f"Pool {pool} has its maximum of {most[pool or '']} nodes, and Pods wait for GPUs"


def test_a_fixed_pool_has_no_alert_about_its_maximum() -> None:
    parameters = of("prod-southeastasia")
    assert {alert.pool for alert in alerts(parameters) if alert.name == "GPUPoolAtMaximum"} == {"rtxprogpu"}


def test_rules_about_what_a_stack_lacks_are_left_out() -> None:
    parameters = of("dev-westus2")
    assert {"GridLicenseMissing", "OsmoAgentDown", "GPURecoveryActionRequired"} <= names(parameters)
    plain = tuple(replace(pool, grid=False) for pool in parameters.pools)
    counters = parameters.counters - {"DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"}
    without = replace(parameters, pools=plain, counters=counters, osmo_namespace=None)
    assert not {"GridLicenseMissing", "OsmoAgentDown", "GPURecoveryActionRequired"} & names(without)


@pytest.mark.parametrize(
    ("mode", "backend", "exists"),
    [
        ("detect", "kube-prometheus", False),
        ("taint", "kube-prometheus", True),
        ("drain", "kube-prometheus", True),
        ("taint", "azure", False),
    ],
)
def test_a_stopped_quarantine_is_reported_where_it_acts_and_is_scraped(mode: str, backend: str, exists: bool) -> None:
    store = ["health.datastoreSecret=store"] if mode != "detect" else []
    overlay = Overlay.assign([f"health.mode={mode}", f"monitoring.metrics={backend}", *store])
    found = names(rule_parameters(load("dev-westus2", [overlay]).settings))
    assert ("GPUQuarantineStopped" in found) == exists


def test_no_gpus_are_missed_where_none_are_expected() -> None:
    parameters = of("dev-westus2")
    removed = replace(parameters, pools=tuple(replace(pool, resources={}) for pool in parameters.pools))
    assert not {"GPUNodeMissingGPUs", "GPUTelemetryAbsent"} & names(removed)


def test_pools_whose_gpus_are_claimed_are_watched_by_what_their_gpus_report() -> None:
    parameters = rule_parameters(given_settings(*POOL).settings)
    found = {(alert.name, alert.pool): alert.expression for alert in alerts(parameters)}
    missing = found["GPUNodeMissingDevices", "h100gpu"]
    assert 'physical_ai:node_pool{pool="h100gpu"}' in missing
    assert ">= 1)" in missing
    assert 'node_pool{pool=~"h100gpu"}' in found["GPUOperatorReconcileFailing", None]
    assert ("GPUNodeMissingGPUs", "h100gpu") not in found
    for name in ("GPUTelemetryAbsent", "GPUNodeNotReady"):
        assert 'node_pool{pool=~"h100gpu' in found[name, None]
    assert "GPUNodeMissingDevices" not in names(of("dev-westus2"))


def test_an_override_changes_a_threshold_or_switches_a_rule_off() -> None:
    overrides = {"GPUTooHot": Override(threshold=91), "GPUPowerCapped": Override(enabled=False)}
    parameters = replace(of("dev-westus2"), overrides=overrides)
    hot = next(alert for alert in alerts(parameters) if alert.name == "GPUTooHot")
    assert "(DCGM_FI_DEV_GPU_TEMP) > 91" in hot.expression
    assert "GPUPowerCapped" not in names(parameters)


def test_series_are_named_without_labels_and_functions() -> None:
    assert metrics('label_replace(sum by (a) (x_total{b="(c)"}), "d", "$1", "e", "f") > 1e9') == {"x_total"}
    needed = series_needed(of("dev-westus2"))
    assert {"DCGM_FI_DEV_FB_USED", "kube_node_info", "grid_driver_ready"} <= needed
    assert all(re.fullmatch(r"DCGM_\w+|kube_\w+|gpu_operator_\w+|grid_driver_\w+", name) for name in needed)


def test_xids_are_disjoint_between_the_rules() -> None:
    found = {
        alert.name: alert.expression for alert in alerts(of("dev-westus2")) if "XID_ERRORS_COUNT" in alert.expression
    }
    recorded = {each.row.record: each.expression for each in records(of("dev-westus2")) if "xid=~" in each.expression}
    texts = [recorded["physical_ai:gpu_xid"], recorded["physical_ai:xid_holder"], found["GPUXidInformation"]]
    codes = [set(re.findall(r"\d+", text.split("xid=~")[1].split("}")[0])) for text in texts]
    assert sum(map(len, codes)) == len(set.union(*codes))
    unclear = set(re.findall(r"\d+", found["GPUXidUnclear"].split("xid!~")[1].split("}")[0]))
    assert unclear == set.union(*codes)


def test_no_rule_depends_on_what_a_vgpu_lacks_alone() -> None:
    """Nodes, allocatable GPUs, the exporter's silence and the licence are seen without temperature or utilization."""
    for name in ("GPUTelemetryAbsent", "GPUNodeMissingGPUs", "GPUAllocatableBelowCapacity", "GridLicenseMissing"):
        found = next(alert for alert in alerts(of("dev-westus2")) if alert.name == name)
        assert {each for each in metrics(found.expression) if each.startswith("DCGM_")} <= {"DCGM_FI_DEV_FB_USED"}


def test_every_alert_names_who_acts_and_what_to_do() -> None:
    for alert in alerts(of("dev-westus2")):
        row = alert.row
        assert row.commands
        assert row.action.endswith(".")
        assert row.meaning.endswith(".")
        assert alert.runbook == f"docs/runbooks/alerts.md#{row.alert.lower()}"
    assert len(alert_rows()) > 30


def test_a_resource_is_named_as_in_metrics() -> None:
    assert metric_resource("nvidia.com/mig-1g.12gb") == "nvidia_com_mig_1g_12gb"


@pytest.mark.parametrize("stack", STACKS)
def test_three_renderings_have_the_same_rules(stack: str) -> None:
    parameters = of(stack)
    file: dict[str, Any] = yaml.safe_load(rule_file(parameters))
    kube = prometheus_rule(parameters, "physical-ai", "monitoring", {"release": "x"})
    assert kube["spec"] == file
    assert kube["apiVersion"] == "monitoring.coreos.com/v1"
    plain = [rule["expr"] for group in file["groups"] for rule in group["rules"]]
    azure = [rule["expression"] for rules in azure_rule_groups(parameters).values() for rule in rules]
    assert plain == azure == [each.expression for each in (*records(parameters), *alerts(parameters))]


def test_azure_gets_its_own_form() -> None:
    groups = azure_rule_groups(of("dev-westus2"), {"warning": ["/subscriptions/s/actionGroups/a"]})
    assert all(len(rules) <= 20 for rules in groups.values())
    rule = next(rule for rule in groups["gpu-faults"] if rule["alert"] == "GPURowRemapPending")
    assert (rule["for"], rule["severity"]) == ("PT60M", 2)
    assert rule["actions"] == [{"actionGroupId": "/subscriptions/s/actionGroups/a"}]
    assert rule["resolveConfiguration"] == {"autoResolved": True, "timeToResolve": "PT10M"}
    assert "keep_firing_for" not in rule
    assert "actions" not in next(rule for rule in groups["gpu-faults"] if rule["alert"] == "GPUXidNodeFault")
