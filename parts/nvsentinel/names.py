"""The supported release of NVSentinel, and the names that depend on it."""

from __future__ import annotations

CHART = "nvsentinel"
RELEASE = "nvsentinel"
NAMESPACE = "nvsentinel"
METRICS_PORT = 2112
"""Port of the metrics of all its Pods (the chart's default, global.metricsPort)."""

DATASTORE_SECRET = "nvsentinel-datastore"  # noqa: S105 - a name
DATASTORE_KEY = "MONGODB_URI"
"""The key that the modules read (values-cosmosdb-test.yaml of the chart)."""
GPU_NODE_LABEL = ("nvidia.com/gpu.present", "true")
"""Label of the nodes that fault-quarantine counts, which the GPU Operator sets; no CPU node has it."""
BREAKER_CONFIG_MAP = "circuit-breaker"
QUARANTINE_ANNOTATION = "quarantineHealthEvent"
"""Annotation of nodes that fault-quarantine has cordoned: the events from which the node has not recovered."""

GPU_MONITOR, SYSLOG_MONITOR = "gpu-health-monitor", "syslog-health-monitor"
FAULT_QUARANTINE, NODE_DRAINER = "fault-quarantine", "node-drainer"
