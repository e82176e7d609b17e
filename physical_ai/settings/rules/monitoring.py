"""Rules about metrics and alerts: names and units have to exist, and receivers have to be reachable."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import nearest, regions
from physical_ai.catalog.lookup import UnknownName
from physical_ai.settings.facts.fabric import has_infiniband
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.monitoring import Monitoring, Receiver
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning
from physical_ai.telemetry.counters import exporter_of, fields_for
from physical_ai.telemetry.rule_rows import alert_rows

_HERE: Path = ("monitoring",)
NO_QUOTA = -1


def check_monitoring(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about metrics and alerts."""
    if not trust(_HERE):
        return
    yield from _overrides(settings.monitoring)
    yield from _back_end(settings.monitoring)
    for name, receiver in settings.monitoring.receivers.items():
        yield from _receiver(settings.monitoring, name, receiver)
    yield from _grafana(settings)
    yield from _container_logs(settings.monitoring)
    if trust(("pools",)):
        yield from _infiniband(settings)
    if trust(("gpuOperator", "version")):
        yield from _counters(settings)


def _overrides(monitoring: Monitoring) -> Iterator[SettingFinding]:
    known = alert_rows()
    for name, override in monitoring.rules.items():
        setting: Path = (*_HERE, "rules", name)
        rule = known.get(name)
        if rule is None:
            near = nearest(name, known)
            fix = f"Did you mean '{near}'?" if near else "Names: docs/runbooks/alerts.md."
            yield error(setting, f"There is no alert '{name}'.", fix, rule=rules.ALERTS)
            continue
        if override.threshold is None:
            continue
        limits, path = rule.threshold, (*setting, "threshold")
        if limits is None:
            yield error(path, f"{name} has no threshold.", "Leave it out; enabled: false omits the alert.")
        elif not limits.least <= override.threshold <= limits.most:
            problem = f"{override.threshold:g} is outside of what {name} compares: {limits.unit}."
            fix = f"{limits.least:g} to {limits.most:g}; the default is {limits.default:g}."
            yield error(path, problem, fix, rule=rules.ALERTS)


def _counters(settings: Settings) -> Iterator[SettingFinding]:
    try:
        exporter = exporter_of(settings.gpu_operator.version)
    except UnknownName:
        return  # reported as an unknown release
    for index, name in enumerate(settings.monitoring.counters):
        try:
            fields_for(exporter, [name])
        except UnknownName as unknown:
            problem = f"{unknown} DCGM exporter {exporter} exits at a name that it does not know, on every node."
            fix = f"Did you mean '{unknown.suggestion}'?" if unknown.suggestion else None
            others: tuple[Path, ...] = (("gpuOperator", "version"),)
            yield error((*_HERE, "counters", index), problem, fix, others=others, rule=rules.COUNTERS)


def _back_end(monitoring: Monitoring) -> Iterator[SettingFinding]:
    if monitoring.metrics_retention_days is not None and monitoring.metrics != "kube-prometheus":
        problem = "Only Prometheus in the cluster has a retention; Azure keeps metrics for 18 months."
        fix = "metrics: kube-prometheus, or leave it out."
        yield warning((*_HERE, "metricsRetentionDays"), problem, fix, others=((*_HERE, "metrics"),))
    if monitoring.smtp is not None and monitoring.metrics != "kube-prometheus":
        problem = "Only Alertmanager sends e-mail through a server of yours."
        fix = "metrics: kube-prometheus, or leave it out."
        yield warning((*_HERE, "smtp"), problem, fix, others=((*_HERE, "metrics"),))
    if monitoring.smtp is not None and (monitoring.smtp.username is None) != (monitoring.smtp.password_secret is None):
        problem = "A login needs both, username and passwordSecret."
        yield error((*_HERE, "smtp"), problem, "Add the other one, or leave both out.")
    if monitoring.receivers and not monitoring.is_measured:
        problem = "Nothing evaluates alerts, so that no receiver is ever notified."
        fix = "metrics: azure or metrics: kube-prometheus."
        yield warning((*_HERE, "receivers"), problem, fix, others=((*_HERE, "metrics"),))


def _infiniband(settings: Settings) -> Iterator[SettingFinding]:
    """Warnings about pools whose InfiniBand alerts cannot fire: by default, Azure's metrics add-on drops the InfiniBand
    series of AKS's node exporter.
    """
    for name, pool in settings.pools.items():
        if settings.monitoring.metrics == "azure" and has_infiniband(pool):
            problem = "Azure's add-on drops the series of InfiniBand, so that alerts about its ports are silent."
            fix = (
                'Add nodeexporter = "node_infiniband_.+" to default-targets-metrics-keep-list in the ConfigMap'
                " ama-metrics-settings-configmap of kube-system, or set metrics: kube-prometheus."
            )
            others: tuple[Path, ...] = ((*_HERE, "metrics"),)
            yield warning(("pools", name, "sku"), problem, fix, others=others, rule=rules.INFINIBAND)


def _receiver(monitoring: Monitoring, name: str, receiver: Receiver) -> Iterator[SettingFinding]:
    if monitoring.metrics != "kube-prometheus":
        return
    setting: Path = (*_HERE, "receivers", name)
    if receiver.action_group is not None:
        problem = "Alertmanager cannot notify an action group of Azure Monitor."
        fix = "email or webhookSecret, or metrics: azure."
        yield error((*setting, "actionGroup"), problem, fix, others=((*_HERE, "metrics"),))
    if receiver.email is not None and monitoring.smtp is None:
        problem = "Alertmanager sends no e-mail without a server."
        yield error((*setting, "email"), problem, "Set monitoring.smtp.", others=((*_HERE, "metrics"),))


def _grafana(settings: Settings) -> Iterator[SettingFinding]:
    monitoring, region = settings.monitoring, regions().get(settings.region)
    setting: Path = (*_HERE, "grafana")
    if monitoring.grafana.principals and monitoring.metrics != "azure":
        problem = "Only Managed Grafana has roles of Entra principals."
        yield warning(
            (*setting, "principals"), problem, "metrics: azure, or leave it out.", others=((*_HERE, "metrics"),)
        )
    if monitoring.metrics != "azure" or not monitoring.grafana.enabled or region is None:
        return
    fix = "grafana: {enabled: false}, or metrics: kube-prometheus."
    if region.managed_grafana == "no":
        problem = f"Azure does not offer Managed Grafana in {region.name}."
        yield error((*setting, "enabled"), problem, fix, others=((*_HERE, "metrics"),), rule=rules.GRAFANA)
    elif region.managed_grafana == "unknown":
        problem = f"It is not known whether Azure offers Managed Grafana in {region.name}."
        yield warning((*setting, "enabled"), problem, fix, others=((*_HERE, "metrics"),), rule=rules.GRAFANA)
    if monitoring.grafana.zone_redundant and not region.zones:
        problem = f"{region.name} has no zones."
        yield error((*setting, "zoneRedundant"), problem, "false.", rule=rules.GRAFANA)


def _container_logs(monitoring: Monitoring) -> Iterator[SettingFinding]:
    if monitoring.container_logs is not None and monitoring.daily_quota_gb == NO_QUOTA:
        problem = "Without a daily cap of the workspace, the amount of container logs and their price have no limit."
        fix = "monitoring.dailyQuotaGb: 5, or another number of GB a day."
        others: tuple[Path, ...] = ((*_HERE, "dailyQuotaGb"),)
        yield error((*_HERE, "containerLogs"), problem, fix, others=others)
