"""Dashboards as code, with Grafana's Foundation SDK. `python -m docs.generator.dashboards` writes their JSON.

The SDK's version fixes the Grafana release whose schema is used: 11.6. The later releases of Managed Grafana and of
kube-prometheus-stack import that schema, too.
"""
