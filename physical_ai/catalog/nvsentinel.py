"""The supported release of NVSentinel, the names that depend on it, and the errors that its monitors report."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Literal

from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text

CHART = "nvsentinel"
CHART_VERSION = "v1.23.0"
RELEASE = "nvsentinel"
NAMESPACE = "nvsentinel"
METRICS_PORT = 2112
"""Of all its Pods (the chart's default, global.metricsPort)."""

DATASTORE_SECRET = "nvsentinel-datastore"  # noqa: S105 - a name
DATASTORE_KEY = "MONGODB_URI"
"""The key that the modules read (values-cosmosdb-test.yaml of the chart)."""
GPU_NODE_LABEL = ("nvidia.com/gpu.present", "true")
"""Of the nodes that fault-quarantine counts, which the GPU Operator labels; no CPU node has it."""
BREAKER_CONFIG_MAP = "circuit-breaker"
QUARANTINE_ANNOTATION = "quarantineHealthEvent"
"""On nodes that fault-quarantine has cordoned: the events that it has not seen recover."""

GPU_MONITOR, SYSLOG_MONITOR = "gpu-health-monitor", "syslog-health-monitor"
FAULT_QUARANTINE, NODE_DRAINER = "fault-quarantine", "node-drainer"
XID_CHECK = "SysLogsXIDError"

Action = Literal["NONE", "COMPONENT_RESET", "CONTACT_SUPPORT", "RESTART_VM", "RESTART_BM"]
_ACTIONS: dict[str, Action] = {
    "RESTART_APP": "NONE",
    "IGNORE": "NONE",
    "RESET_GPU": "COMPONENT_RESET",
    "WORKFLOW_XID_48": "COMPONENT_RESET",
    "RESTART_VM": "RESTART_VM",
    "RESTART_BM": "RESTART_BM",
}


class DcgmError(Row):
    """One error that the GPU health monitor reports."""

    code: Text
    check: Text
    """Type of the node's condition."""
    action: Action
    quarantine: bool
    why: str = ""
    """Why a node stays in service with a fatal error."""
    believed: bool = False
    """No source was found for the fault at which DCGM reports it."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def dcgm_errors() -> dict[str, DcgmError]:
    """The errors by DCGM's code, in the order of the data."""
    found: dict[str, DcgmError] = {}
    for group in read_rows(GPU / "health_events.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["events"]:
            where = f"health_events.yaml: {own.get('code')}"
            item = row(DcgmError, {**shared, **own}, where)
            if item.code in found:
                raise CatalogError(f"{where} is a duplicate")
            if item.quarantine and item.action == "NONE":
                raise CatalogError(f"{where} is not fatal, so no node is quarantined for it")
            if not item.quarantine and item.action != "NONE" and not item.why:
                raise CatalogError(f"{where} is fatal; say why a node stays in service with it")
            found[item.code] = item
    return found


def xid_action(action: str) -> Action:
    """What NVSentinel advises for an Xid, from NVIDIA's immediate action (syslog-health-monitor/pkg/common).

    Actions that it does not know become CONTACT_SUPPORT, which is fatal: that of Xid 45, of a killed job, is one.
    """
    return _ACTIONS.get(action, "CONTACT_SUPPORT")
