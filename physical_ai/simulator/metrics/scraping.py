"""Prometheus' configuration: scrape jobs from PodMonitors, as the Prometheus operator makes them. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from physical_ai.simulator.cluster.objects import Json, at, name
from physical_ai.simulator.metrics.discovery import Selection, query

DEFAULT_MONITORS = Path(__file__).parent / "data" / "monitors.yaml"
POD = "__meta_kubernetes_pod"
LEAST_REFRESH = 1.0
"""Seconds between two discoveries, of a real clock, where scrapes are more frequent."""


@cache
def default_monitors() -> tuple[Json, ...]:
    """PodMonitors for a stack that declares none."""
    return tuple(yaml.safe_load(DEFAULT_MONITORS.read_text(encoding="utf-8")))


def configuration(
    monitors: Sequence[Json], exporters: str, cluster: str, alertmanager: str, interval_seconds: float
) -> Json:
    """Prometheus' configuration.

    Args:
        monitors: PodMonitors of the stack.
        exporters: Address of the simulated exporters.
        cluster: Value of the label `cluster`.
        alertmanager: Address of Alertmanager.
        interval_seconds: Between two scrapes of a target, and between two evaluations of a rule.
    """
    interval = duration(interval_seconds)
    jobs = [
        _job(monitor, index, endpoint, cluster) | _discovery(monitor, endpoint, exporters, interval_seconds)
        for monitor in monitors
        for index, endpoint in enumerate(at(monitor, "spec.podMetricsEndpoints", []))
    ]
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
        "rule_files": ["rules.yml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": [*jobs, _kube_state(exporters, cluster)],
    }


def duration(seconds: float) -> str:
    """A duration as Prometheus writes it, in milliseconds: at least one."""
    return f"{max(round(seconds * 1000), 1)}ms"


def _kube_state(exporters: str, cluster: str) -> Json:
    return {
        "job_name": "kube-state-metrics",
        "honor_labels": True,
        "metrics_path": "/kube-state-metrics/metrics",
        "static_configs": [{"targets": [exporters]}],
        "relabel_configs": [{"target_label": "cluster", "replacement": cluster}],
    }


def _discovery(monitor: Json, endpoint: Json, exporters: str, interval_seconds: float) -> Json:
    namespaces = _namespaces(monitor, str(at(monitor, "metadata.namespace")))
    selected = Selection(namespaces, at(monitor, "spec.selector.matchLabels", {}), _port(endpoint))
    url = f"http://{exporters}/targets?{urlencode(query(selected))}"
    refresh = duration(max(interval_seconds, LEAST_REFRESH))
    return {"http_sd_configs": [{"url": url, "refresh_interval": refresh}]}


def _port(endpoint: Json) -> str:
    return str(endpoint.get("port") or endpoint.get("portNumber") or endpoint.get("targetPort", ""))


def _job(monitor: Json, index: int, endpoint: Json, cluster: str) -> Json:
    namespace = str(at(monitor, "metadata.namespace"))
    own: list[Json] = [
        {"source_labels": [f"{POD}_phase"], "regex": "(Failed|Succeeded)", "action": "drop"},
        {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
        {"source_labels": [f"{POD}_container_name"], "target_label": "container"},
        {"source_labels": [f"{POD}_name"], "target_label": "pod"},
        {"target_label": "job", "replacement": f"{namespace}/{name(monitor)}"},
        {"target_label": "endpoint", "replacement": _port(endpoint)},
        {"source_labels": [f"{POD}_ip", f"{POD}_container_port_number"], "separator": ":", "target_label": "instance"},
    ]
    return {
        "job_name": f"podMonitor/{namespace}/{name(monitor)}/{index}",
        "honor_labels": bool(endpoint.get("honorLabels", False)),
        "relabel_configs": [
            *own,
            *(_relabeling(each) for each in endpoint.get("relabelings") or ()),
            {"source_labels": ["cluster"], "regex": "", "target_label": "cluster", "replacement": cluster},
        ],
        "metric_relabel_configs": [_relabeling(each) for each in endpoint.get("metricRelabelings") or ()],
    }


def _namespaces(monitor: Json, own: str) -> frozenset[str]:
    selector: Mapping[str, Any] = at(monitor, "spec.namespaceSelector", {})
    if selector.get("any"):
        return frozenset()
    return frozenset(selector.get("matchNames") or [own])


def _relabeling(given: Mapping[str, Any]) -> Json:
    """A relabeling of a PodMonitor as Prometheus writes it: `targetLabel` is `target_label`."""
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in given.items()}
