"""Prometheus in the cluster as a part of the platform."""

from __future__ import annotations

from parts.kube_prometheus.names import CHART
from parts.kube_prometheus.plan import OWNED, is_wanted, kube_prometheus_plan
from parts.part import Part

PART = Part(
    name="kube_prometheus",
    title="Prometheus, Alertmanager and Grafana in the cluster",
    setting=("monitoring", "metrics"),
    resource_type="physical-ai:kubernetes:KubePrometheus",
    resource_name="kube-prometheus",
    owned={CHART: OWNED},
    wanted=is_wanted,
    plan=kube_prometheus_plan,
    # Monitors are declared after it, since this release brings their kinds.
    stage="cluster",
)
