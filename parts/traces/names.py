"""The supported release of the OpenTelemetry Collector, and the names that depend on it."""

from __future__ import annotations

CHART = "opentelemetry-collector"
RELEASE = "otel-collector"
"""Name of the release, its Service and its Deployment."""
NAMESPACE = "telemetry"
IMAGE = "otel/opentelemetry-collector-contrib"
"""Image of the collector's distribution with the exporter for Azure Monitor
(open-telemetry/opentelemetry-collector-contrib exporter/azuremonitorexporter). Its tag is the collector version of
the chart.
"""
USER = 10001
"""Id of the user as which the image runs."""
GRPC_PORT, HTTP_PORT, HEALTH_PORT = 4317, 4318, 13133
SECRET = "otel-collector-destination"  # noqa: S105 - a name
CONNECTION_VARIABLE = "APPLICATIONINSIGHTS_CONNECTION_STRING"
"""Environment variable from which the exporter for Azure Monitor reads its connection string."""
ADDRESS = f"http://{RELEASE}.{NAMESPACE}:{HTTP_PORT}"
"""Address to which the Pods of workflows send OTLP over HTTP."""
