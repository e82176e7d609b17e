"""Dashboards as code, with Grafana's Foundation SDK. `python -m docs.generator.dashboards` writes their JSON.

The SDK's version says which Grafana its schema is of: 11.6, which the later ones of Managed Grafana and of
kube-prometheus-stack import, too.
"""
