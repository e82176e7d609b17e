"""Prometheus, Alertmanager and Grafana in the cluster: values of their chart, and where alerts are sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from parts.kube_prometheus.names import (
    ALERTMANAGER_SECRET,
    CHART,
    DASHBOARD_LABEL,
    GRAFANA_PASSWORD_KEY,
    GRAFANA_SECRET,
    GRAFANA_USER_KEY,
    NAMESPACE,
    NODE_EXPORTER_PORT,
    RELEASE,
)
from parts.part import PartPlan, Planned, ReleasePlan
from physical_ai.catalog.charts import chart
from physical_ai.planning import manifests
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.fabric import has_infiniband
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, tolerations_of
from physical_ai.settings.facts.pools import pool_selector, services_placement
from physical_ai.settings.facts.telemetry import METRIC_LABELS, rule_parameters
from physical_ai.settings.models.monitoring import Monitoring, Receiver
from physical_ai.settings.models.tree import Settings
from physical_ai.telemetry.rendering import prometheus_rule
from physical_ai.telemetry.routing import GROUP_BY, inhibit_rules

NAME = "kube_prometheus"
FILE = f"{NAME}/{CHART}-values.yaml"
TIMEOUT_SECONDS = 900
DEFAULT_RETENTION_DAYS = 15
NOBODY = "nobody"
"""Name of Alertmanager's default receiver, for alerts that no other receiver gets; it sends nothing."""
OWNED = {
    "prometheus.enabled": "monitoring.metrics",
    "prometheus.prometheusSpec": "monitoring.scrapeIntervalSeconds or monitoring.metricsRetentionDays",
    "alertmanager.enabled": "monitoring.receivers",
    "alertmanager.alertmanagerSpec": "monitoring.receivers",
    "fullnameOverride": "the name in parts/kube_prometheus/names.py",
    "prometheusOperator.nodeSelector": "cpuPool",
    "prometheusOperator.tolerations": "cpuPool",
    "grafana.nodeSelector": "cpuPool",
    "grafana.tolerations": "cpuPool",
    "grafana.enabled": "monitoring.grafana.enabled",
    "grafana.admin": "nothing: the program generates the password",
    "grafana.sidecar": "nothing: dashboards are part of the program",
    "nodeExporter.enabled": "nothing: it runs on pools whose VM size has InfiniBand",
    "prometheus-node-exporter": "nothing: it runs on pools whose VM size has InfiniBand",
    "kube-state-metrics": "nothing: physical_ai/settings/facts/telemetry.py has the labels that are exported",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""


def is_wanted(settings: Settings) -> bool:
    """True where Prometheus runs in the stack's cluster."""
    return settings.monitoring.metrics == "kube-prometheus"


def kube_prometheus_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None where metrics go
    elsewhere."""
    if not is_wanted(settings):
        return None, []
    pinned = chart(CHART, settings.monitoring.kube_prometheus_version)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, _values(settings) | _node_exporter(settings))
    release = ReleasePlan(
        key="release",
        name=RELEASE,
        namespaces=(NAMESPACE,),
        chart=pinned,
        values=values,
        timeout_seconds=TIMEOUT_SECONDS,
    )
    return PartPlan((release,), before=tuple(manifests.load_of(NAME, "network.yaml"))), faults


def rules(settings: Settings) -> Mapping[str, Any]:
    """Manifest of the PrometheusRule with all rules."""
    return prometheus_rule(rule_parameters(settings), "physical-ai", NAMESPACE)


def _values(settings: Settings) -> dict[str, Any]:
    monitoring, here = settings.monitoring, services_placement(settings)
    retention = monitoring.metrics_retention_days or DEFAULT_RETENTION_DAYS
    return {
        "fullnameOverride": RELEASE,
        "prometheusOperator": dict(here),
        "prometheus": {
            "enabled": True,
            "prometheusSpec": {
                "retention": f"{retention}d",
                "scrapeInterval": f"{monitoring.scrape_interval_seconds}s",
                **here,
                # Otherwise Prometheus reads only monitors with this release's label.
                "podMonitorSelectorNilUsesHelmValues": False,
                "ruleSelectorNilUsesHelmValues": False,
                "serviceMonitorSelectorNilUsesHelmValues": False,
            },
        },
        "alertmanager": {
            "enabled": True,
            # Receivers have secrets, which the values of a release would keep in plain text.
            "alertmanagerSpec": {
                "useExistingSecret": True,
                "configSecret": ALERTMANAGER_SECRET,
                **here,
            },
        },
        "grafana": {
            "enabled": monitoring.grafana.enabled,
            # Its default password is the same in every installation.
            "admin": {
                "existingSecret": GRAFANA_SECRET,
                "userKey": GRAFANA_USER_KEY,
                "passwordKey": GRAFANA_PASSWORD_KEY,
            },
            **here,
            "sidecar": {
                "dashboards": {
                    "enabled": True,
                    "label": next(iter(DASHBOARD_LABEL)),
                    "labelValue": next(iter(DASHBOARD_LABEL.values())),
                    "searchNamespace": "ALL",
                }
            },
        },
        "kube-state-metrics": {**here, "metricLabelsAllowlist": _allowed(METRIC_LABELS)},
    }


def _node_exporter(settings: Settings) -> dict[str, Any]:
    """Values of the node exporter. It runs only on nodes with InfiniBand, and collects only InfiniBand metrics: no
    alert needs its other metrics.

    The exporter mounts the host's /sys, so it runs in the namespace of the GPU exporters, whose Pod Security level
    allows host paths.
    """
    pools = [name for name, pool in settings.pools.items() if has_infiniband(pool)]
    if not pools:
        return {"nodeExporter": {"enabled": False}}
    (label,) = {key for name in pools for key in pool_selector(name, settings.pools[name])}
    here = {"key": label, "operator": "In", "values": pools}
    nodes = {"nodeSelectorTerms": [{"matchExpressions": [here]}]}
    return {
        "nodeExporter": {"enabled": True},
        "prometheus-node-exporter": {
            "namespaceOverride": OPERATOR_NAMESPACE,
            "extraArgs": ["--collector.disable-defaults", "--collector.infiniband"],
            "hostNetwork": False,
            "hostPID": False,
            "service": {"portName": NODE_EXPORTER_PORT},
            "prometheus": {"monitor": {"enabled": False}},
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": nodes}},
            "tolerations": tolerations_of(settings, (settings.pools[name] for name in pools)),
        },
    }


def _allowed(labels: str) -> list[str]:
    """List of allowed labels in the format of kube-state-metrics: one entry for each kind of object."""
    return [f"{each}]" for each in labels.removesuffix("]").split("],")]


def alertmanager_config(monitoring: Monitoring, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Alertmanager's configuration.

    Each receiver gets the severities that it asks for; alerts of other severities are not sent.

    Raises KeyError for a missing secret; callers have checked before that all of them exist.
    """
    found: dict[str, Any] = {
        "route": {
            "receiver": NOBODY,
            "group_by": list(GROUP_BY),
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": [
                {
                    "receiver": name,
                    "matchers": [f'severity=~"{"|".join(receiver.severities)}"'],
                    "continue": True,
                }
                for name, receiver in monitoring.receivers.items()
            ],
        },
        "inhibit_rules": inhibit_rules(),
        "receivers": [
            {"name": NOBODY},
            *({"name": name, **_target(receiver, secrets)} for name, receiver in monitoring.receivers.items()),
        ],
    }
    if (smtp := monitoring.smtp) is not None:
        found["global"] = {"smtp_smarthost": smtp.host, "smtp_from": smtp.sender}
        if smtp.username is not None and smtp.password_secret is not None:
            found["global"] |= {
                "smtp_auth_username": smtp.username,
                "smtp_auth_password": secrets[smtp.password_secret],
            }
    return found


def _target(receiver: Receiver, secrets: Mapping[str, str]) -> dict[str, Any]:
    if receiver.webhook_secret is not None:
        return {"webhook_configs": [{"url": secrets[receiver.webhook_secret], "send_resolved": True}]}
    return {"email_configs": [{"to": receiver.email, "send_resolved": True}]}
