"""The chart kube-prometheus-stack, and the names that depend on it."""

from __future__ import annotations

CHART = "kube-prometheus-stack"
RELEASE = "kube-prometheus"
NAMESPACE = "monitoring"

ALERTMANAGER_SECRET = "alertmanager-config"  # noqa: S105 - a name
ALERTMANAGER_KEY = "alertmanager.yaml"
"""Key of the configuration in Alertmanager's Secret, as the Prometheus operator reads it (prometheus-operator docs,
alerting).
"""
GRAFANA_SECRET = "grafana-admin"  # noqa: S105 - a name
GRAFANA_USER_KEY, GRAFANA_PASSWORD_KEY = "admin-user", "admin-password"
"""Keys of the Secret that Grafana's administrator logs in with (grafana/helm-charts values.yaml, admin)."""
NODE_EXPORTER_PORT = "metrics"
"""Name of the node exporter's port, which the program chooses."""
DASHBOARD_LABEL = {"grafana_dashboard": "1"}
"""Label of ConfigMaps that Grafana's sidecar loads dashboards from (chart values, grafana.sidecar.dashboards)."""
