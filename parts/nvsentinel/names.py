"""The supported release of NVSentinel, and the names that depend on it."""

from __future__ import annotations

CHART = "nvsentinel"
RELEASE = "nvsentinel"
NAMESPACE = "nvsentinel"
METRICS_PORT = 2112
"""Port of the metrics of all of NVSentinel's Pods (the chart's default, global.metricsPort)."""

DATASTORE_SECRET = "nvsentinel-datastore"  # noqa: S105 - a name
DATASTORE_KEY = "MONGODB_URI"
"""Key in the Secret `DATASTORE_SECRET`; its value is the connection string that NVSentinel's modules read
(values-cosmosdb-test.yaml of the chart).
"""
GPU_NODE_LABEL = ("nvidia.com/gpu.present", "true")
"""Label of the nodes that fault-quarantine counts. The GPU Operator sets it, and CPU nodes do not have it."""
BREAKER_CONFIG_MAP = "circuit-breaker"
QUARANTINE_ANNOTATION = "quarantineHealthEvent"
"""Annotation of nodes that fault-quarantine has cordoned: the health events that are not resolved yet."""

GPU_MONITOR, SYSLOG_MONITOR = "gpu-health-monitor", "syslog-health-monitor"
FAULT_QUARANTINE, NODE_DRAINER = "fault-quarantine", "node-drainer"
