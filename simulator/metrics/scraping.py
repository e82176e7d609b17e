"""Prometheus' configuration: its scrape jobs, whose targets are discovered in the simulated cluster. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from physical_ai import safe_yaml
from simulator.cluster.objects import Json
from simulator.metrics.collector import Collected
from simulator.metrics.discovery import query
from simulator.metrics.jobs import Job, pod_jobs

DEFAULT_MONITORS = Path(__file__).parent / "data" / "monitors.yaml"
LEAST_REFRESH = 1.0
"""Minimum number of real seconds between two discoveries of targets, even if scrapes are more frequent."""


@cache
def default_jobs() -> tuple[Job, ...]:
    """Scrape jobs for a stack without a metrics collector."""
    monitors: list[Json] = safe_yaml.load(DEFAULT_MONITORS.read_text(encoding="utf-8"))
    return tuple(job for monitor in monitors for job in pod_jobs(monitor))


def configuration(given: Collected, exporters: str, alertmanager: str, interval_seconds: float) -> Json:
    """Configuration of the running Prometheus.

    Args:
        exporters: Address of the simulated exporters.
        alertmanager: Address of Alertmanager.
        interval_seconds: Seconds between two scrapes of a target, and between two evaluations of a rule.
    """
    interval = duration(interval_seconds)
    jobs = [_job(job, given.cluster) | _discovery(job, exporters, interval_seconds) for job in given.jobs]
    if given.state_labels is not None:
        jobs.append(_kube_state(exporters, given.cluster, given.state_labels))
    if given.kubelets:
        jobs.append(_cadvisor(exporters, given.cluster))
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
        "rule_files": ["rules.yml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": jobs,
    }


def duration(seconds: float) -> str:
    """A duration in Prometheus' format: whole milliseconds, at least one millisecond."""
    return f"{max(round(seconds * 1000), 1)}ms"


def _kube_state(exporters: str, cluster: str, labels: Mapping[str, Sequence[str]]) -> Json:
    """Scrape job for the kube-state-metrics of Azure's add-on, which runs outside the simulated Pods."""
    return {
        "job_name": "kube-state-metrics",
        "honor_labels": True,
        "metrics_path": "/kube-state-metrics/metrics",
        "params": {kind: [",".join(allowed)] for kind, allowed in labels.items()},
        "static_configs": [{"targets": [exporters]}],
        "relabel_configs": [{"target_label": "cluster", "replacement": cluster}],
    }


def _cadvisor(exporters: str, cluster: str) -> Json:
    """Scrape job for the kubelets' cAdvisor.

    Only Azure's add-on needs this job: it scrapes the kubelets by default. kube-prometheus-stack has its own monitor
    for the kubelets.
    """
    return {
        "job_name": "cadvisor",
        "honor_labels": True,
        "metrics_path": "/cadvisor/metrics",
        "static_configs": [{"targets": [exporters]}],
        "relabel_configs": [{"target_label": "cluster", "replacement": cluster}] if cluster else [],
    }


def _discovery(job: Job, exporters: str, interval_seconds: float) -> Json:
    url = f"http://{exporters}/targets?{urlencode(query(job.selection))}"
    refresh = duration(max(interval_seconds, LEAST_REFRESH))
    return {"http_sd_configs": [{"url": url, "refresh_interval": refresh}]}


def _job(job: Job, cluster: str) -> Json:
    named = {"source_labels": ["cluster"], "regex": "", "target_label": "cluster", "replacement": cluster}
    return {
        "job_name": job.name,
        "honor_labels": job.honor_labels,
        **job.limits,
        "relabel_configs": [*job.relabelings, *([named] if cluster else [])],
        "metric_relabel_configs": list(job.metric_relabelings),
    }
