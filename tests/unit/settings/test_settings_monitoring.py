"""Settings of metrics and alerts: what follows from them, and each way they can be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from components.config import secret_faults
from physical_ai.catalog import regions
from physical_ai.settings import Fault, Loaded, Overlay, SettingsError, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.counters import CONFIG_MAP, KEY, PER_POD, RESOURCE_NAMES
from physical_ai.telemetry.rules import alerts
from tests.support.cases import in_one_test

AZURE, KUBE = "monitoring.metrics=azure", "monitoring.metrics=kube-prometheus"
GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Insights/actionGroups/a"


def dev(*assignments: str) -> Loaded:
    return load("dev-westus2", [Overlay.assign(assignments)])


def errors(*assignments: str) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        dev(*assignments)
    return caught.value.faults


def test_nothing_is_measured_unless_asked_for() -> None:
    plan = load("seed-westus2").plan.gpu
    assert CONFIG_MAP not in plan.config_maps
    assert "config" not in plan.values["dcgmExporter"]


@pytest.mark.parametrize("back_end", [AZURE, KUBE])
def test_counters_are_mounted_and_a_change_restarts_the_exporter(back_end: str) -> None:
    plain, more = dev(back_end).plan.gpu, dev(back_end, "monitoring.counters=[DCGM_FI_PROF_SM_OCCUPANCY]").plan.gpu
    assert plain.values["dcgmExporter"]["config"] == {"create": False, "name": CONFIG_MAP}
    assert "DCGM_FI_PROF_SM_OCCUPANCY" in more.config_maps[CONFIG_MAP][KEY]
    assert plain.values["dcgmExporter"]["env"] != more.values["dcgmExporter"]["env"]


SLICED = "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}"


def exporter_environment(*assignments: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in dev(*assignments).plan.gpu.values["dcgmExporter"].get("env", ())}


def test_pods_that_share_a_gpu_are_counted_apart_where_the_exporter_can() -> None:
    assert exporter_environment(AZURE, SLICED)[PER_POD] == "true"
    assert PER_POD not in exporter_environment(AZURE)
    assert PER_POD not in exporter_environment("monitoring.metrics=none", SLICED)
    assert PER_POD not in exporter_environment(AZURE, SLICED, "gpuOperator.version=v25.10.1")


def test_the_exporter_names_the_pods_of_renamed_shares_too() -> None:
    renamed = "pools.h100gpu.sharing={timeSlicing: {replicas: 4, rename: true}}"
    assert exporter_environment(AZURE, renamed)[RESOURCE_NAMES] == "nvidia.com/gpu.shared"
    assert RESOURCE_NAMES not in exporter_environment(AZURE, SLICED)


WRONG = [
    (["monitoring.metrics=[azure,kube-prometheus]"], "monitoring.metrics", "one back end", ""),
    (["monitoring.metrics=prometheus"], "monitoring.metrics", "not possible", "'kube-prometheus'"),
    (
        ["monitoring.counters=[DCGM_FI_DEV_GPU_TMP]"],
        "monitoring.counters[0]",
        "not a DCGM field",
        "DCGM_FI_DEV_GPU_TEMP",
    ),
    (
        ["gpuOperator.version=v26.3.0", "monitoring.counters=[DCGM_FI_DEV_CLOCK_THROTTLE_REASONS]"],
        "monitoring.counters[0]",
        "4.5.1-4.8.0 exits",
        "",
    ),
    (["monitoring.rules={GPUToHot: {threshold: 90}}"], "monitoring.rules.GPUToHot", "no alert", "'GPUTooHot'"),
    (
        ["monitoring.rules={GPUTooHot: {threshold: 900}}"],
        "monitoring.rules.GPUTooHot.threshold",
        "celsius",
        "40 to 110",
    ),
    (
        ["monitoring.rules={GPUAllocatedButIdle: {threshold: 2}}"],
        "monitoring.rules.GPUAllocatedButIdle.threshold",
        "share of time",
        "0 to 1",
    ),
    (
        ["monitoring.rules={GPURowRemapFailed: {threshold: 1}}"],
        "monitoring.rules.GPURowRemapFailed.threshold",
        "has no threshold",
        "enabled: false",
    ),
    (["monitoring.receivers={team: {}}"], "monitoring.receivers.team", "exactly one", ""),
    (["monitoring.receivers={team: {email: me}}"], "monitoring.receivers.team.email", "an e-mail address", ""),
    (["monitoring.receivers={Team: {email: a@b.de}}"], "monitoring.receivers.Team", "a receiver's name", ""),
    (
        [KUBE, "monitoring.receivers={team: {email: a@b.de}}"],
        "monitoring.receivers.team.email",
        "no e-mail without a server",
        "monitoring.smtp",
    ),
    (
        [KUBE, f"monitoring.receivers={{team: {{actionGroup: {GROUP}}}}}"],
        "monitoring.receivers.team.actionGroup",
        "cannot notify",
        "webhookSecret",
    ),
    (
        [KUBE, "monitoring.smtp={host: 'smtp.contoso.com:587', sender: a@b.de, username: a}"],
        "monitoring.smtp",
        "both",
        "",
    ),
    (["monitoring.scrapeIntervalSeconds=5"], "monitoring.scrapeIntervalSeconds", "too small", "15"),
    (["monitoring.runbooks=https://docs.contoso.com"], "monitoring.runbooks", "ends with a slash", ""),
]


@in_one_test(("assignments", "path", "problem", "fix"), WRONG)
def test_what_cannot_work_is_an_error(assignments: list[str], path: str, problem: str, fix: str) -> None:
    found = [fault for fault in errors(*assignments) if fault.where == path]
    assert any(problem in fault.problem and fix in (fault.fix or "") for fault in found), found


@pytest.mark.parametrize(
    ("assignments", "path", "problem"),
    [
        (["monitoring.receivers={team: {email: a@b.de}}"], "monitoring.receivers", "no receiver is ever notified"),
        ([AZURE, "monitoring.metricsRetentionDays=30"], "monitoring.metricsRetentionDays", "18 months"),
        ([AZURE, "monitoring.smtp={host: 's:1', sender: a@b.de}"], "monitoring.smtp", "Alertmanager"),
        (
            [KUBE, "monitoring.grafana.principals=[{principalId: 00000000-0000-0000-0000-000000000001}]"],
            "monitoring.grafana.principals",
            "Entra principals",
        ),
    ],
)
def test_what_has_no_effect_is_a_warning(assignments: list[str], path: str, problem: str) -> None:
    found = [fault for fault in dev("monitoring.metrics=none", *assignments).warnings if fault.where == path]
    assert any(problem in fault.problem for fault in found), found


@pytest.mark.parametrize(("offered", "is_error"), [("no", True), ("unknown", False)])
def test_a_region_without_managed_grafana(offered: Any, is_error: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**regions(), "westus2": regions()["westus2"].model_copy(update={"managed_grafana": offered})}
    monkeypatch.setattr("physical_ai.settings.rules.monitoring.regions", lambda: changed)
    found = errors(AZURE) if is_error else dev(AZURE).warnings
    texts = [f"{fault.problem} {fault.fix}" for fault in found if "Grafana" in fault.problem]
    assert texts
    assert "grafana: {enabled: false}" in texts[0]
    dev(AZURE, "monitoring.grafana.enabled=false")


def test_zones_of_grafana_need_a_region_with_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**regions(), "westus2": regions()["westus2"].model_copy(update={"zones": ()})}
    monkeypatch.setattr("physical_ai.settings.rules.monitoring.regions", lambda: changed)
    found = errors(AZURE, "monitoring.grafana.zoneRedundant=true")
    assert "monitoring.grafana.zoneRedundant" in [fault.where for fault in found]


def test_a_receiver_without_its_secret() -> None:
    loaded = dev(AZURE, "monitoring.receivers={pager: {webhookSecret: pagerUrl}}")
    assert secret_faults(loaded, ["pagerUrl"]) == []
    (found,) = secret_faults(loaded, [])
    assert found.where == "monitoring.receivers.pager.webhookSecret"
    assert found.fix == "pulumi config set --secret --path 'physical-ai:secrets.pagerUrl'"
    assert secret_faults(dev("monitoring.metrics=none"), []) == []


def test_a_mail_server_without_its_password() -> None:
    smtp = "monitoring.smtp={host: 's:1', sender: a@b.de, username: a, passwordSecret: mail}"
    (found,) = secret_faults(dev(KUBE, smtp), [])
    assert found.where == "monitoring.smtp.passwordSecret"


def test_overrides_reach_the_rules() -> None:
    loaded = dev(AZURE, "monitoring.rules={GPUTooHot: {threshold: 91}, GPUPowerCapped: {enabled: false}}")
    found = {alert.name: alert for alert in alerts(rule_parameters(loaded.settings))}
    assert "> 91" in found["GPUTooHot"].expression
    assert "GPUPowerCapped" not in found


TRACES_WRONG = [
    (["monitoring.traces={}"], "monitoring.traces", "exactly one of connectionSecret and endpoint", ""),
    (
        ["monitoring.traces={endpoint: 'http://otlp.contoso.com'}"],
        "monitoring.traces.endpoint",
        "not an address of OTLP",
        "",
    ),
    (
        ["monitoring.traces={connectionSecret: a, headerSecrets: {x: y}}"],
        "monitoring.traces",
        "eaderSecrets are for endpoint",
        "",
    ),
    (["monitoring.containerLogs={namespaces: []}"], "monitoring.containerLogs.namespaces", "at least 1", ""),
    (["monitoring.containerLogs={intervalMinutes: 90}"], "monitoring.containerLogs.intervalMinutes", "too large", "30"),
    (
        ["monitoring.dailyQuotaGb=-1", "monitoring.containerLogs={}"],
        "monitoring.containerLogs",
        "Without a daily cap",
        "dailyQuotaGb",
    ),
]


@pytest.mark.parametrize(("assignments", "path", "problem", "fix"), TRACES_WRONG)
def test_traces_and_logs_that_cannot_work_are_errors(assignments: list[str], path: str, problem: str, fix: str) -> None:
    found = [fault for fault in errors(*assignments) if fault.where == path]
    assert any(problem in fault.problem and fix in (fault.fix or "") for fault in found), found


def test_the_secrets_of_traces_have_to_exist() -> None:
    loaded = dev("monitoring.traces={endpoint: 'https://otlp.contoso.com', headerSecrets: {api-key: tracesKey}}")
    (fault,) = secret_faults(loaded, [])
    assert (fault.where, "tracesKey" in fault.problem) == ("monitoring.traces.headerSecrets.api-key", True)
    assert secret_faults(loaded, ["tracesKey"]) == []
