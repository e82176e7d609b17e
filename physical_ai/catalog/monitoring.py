"""The supported release of kube-prometheus-stack, and the names that depend on it."""

from __future__ import annotations

CHART = "kube-prometheus-stack"
CHART_VERSION = "88.5.3"
RELEASE = "kube-prometheus"
NAMESPACE = "monitoring"

ALERTMANAGER_SECRET = "alertmanager-config"  # noqa: S105 - a name
ALERTMANAGER_KEY = "alertmanager.yaml"
"""The key that the operator reads (prometheus-operator docs, alerting)."""
DASHBOARD_LABEL = {"grafana_dashboard": "1"}
"""On ConfigMaps that Grafana's sidecar loads dashboards from (chart values, grafana.sidecar.dashboards)."""
