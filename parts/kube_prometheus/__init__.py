"""Prometheus, Alertmanager and Grafana in the cluster, from the chart kube-prometheus-stack."""
