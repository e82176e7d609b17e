"""Prometheus in the cluster as a part of the platform."""

from __future__ import annotations

from parts.kube_prometheus.names import CHART, NODE_EXPORTER_PORT
from parts.kube_prometheus.plan import OWNED, is_wanted, kube_prometheus_plan
from parts.part import Part
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.facts.fabric import has_infiniband
from physical_ai.settings.models.tree import Settings

INFINIBAND = Exporter("infiniband", {"app.kubernetes.io/name": "prometheus-node-exporter"}, NODE_EXPORTER_PORT, 9100)
"""Exporter of InfiniBand metrics: the chart's own node exporter, which runs only on nodes with InfiniBand. On AKS it
runs beside AKS's node exporter.
"""


def exporters(settings: Settings) -> tuple[Exporter, ...]:
    """Node exporter for InfiniBand; empty in a stack without nodes that have InfiniBand."""
    return (INFINIBAND,) if any(map(has_infiniband, settings.pools.values())) else ()


PART = Part(
    name="kube_prometheus",
    title="Prometheus, Alertmanager and Grafana in the cluster",
    setting=("monitoring", "metrics"),
    resource_type="physical-ai:kubernetes:KubePrometheus",
    resource_name="kube-prometheus",
    owned={CHART: OWNED},
    wanted=is_wanted,
    plan=kube_prometheus_plan,
    # Monitors are declared after Prometheus, since its release brings their kinds.
    stage="cluster",
    exporters=exporters,
)
