"""The supported release of the OpenTelemetry Collector, and the names that depend on it."""

from __future__ import annotations

CHART = "opentelemetry-collector"
RELEASE = "otel-collector"
"""Name of the release, its Service and its Deployment."""
NAMESPACE = "telemetry"
IMAGE = "otel/opentelemetry-collector-contrib"
"""The distribution with the exporter for Azure Monitor (open-telemetry/opentelemetry-collector-contrib
exporter/azuremonitorexporter). Its tag is the chart's version of the collector."""
USER = 10001
"""User id in the image."""
GRPC_PORT, HTTP_PORT, HEALTH_PORT = 4317, 4318, 13133
SECRET = "otel-collector-destination"  # noqa: S105 - a name
CONNECTION_VARIABLE = "APPLICATIONINSIGHTS_CONNECTION_STRING"
"""The exporter for Azure Monitor reads it from its environment."""
ADDRESS = f"http://{RELEASE}.{NAMESPACE}:{HTTP_PORT}"
"""Address to which Pods of workflows send OTLP over HTTP."""
