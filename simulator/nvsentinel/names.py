"""Names that NVSentinel uses, and its recommended action for each error. This module repeats them from NVSentinel's
source and imports nothing from the deployed code.

Source: NVIDIA/NVSentinel, gpu-health-monitor/files/dcgmerrorsmapping.csv at v1.22.0, syslog-health-monitor/pkg/common,
fault-quarantine/pkg/breaker, docs/configuration; read 2026-09-22 for the program, and copied from the program
2026-11-28. Namespace and release name are those with which this platform installs the chart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

RELEASE, NAMESPACE = "nvsentinel", "nvsentinel"
GPU_MONITOR, SYSLOG_MONITOR = "gpu-health-monitor", "syslog-health-monitor"
FAULT_QUARANTINE, NODE_DRAINER = "fault-quarantine", "node-drainer"
GPU_NODE_LABEL = ("nvidia.com/gpu.present", "true")
"""Label by which fault-quarantine counts the GPU nodes. The GPU Operator sets this label."""
BREAKER_CONFIG_MAP = "circuit-breaker"
QUARANTINE_ANNOTATION = "quarantineHealthEvent"
"""Annotation on a node that fault-quarantine has cordoned. It lists the unhealthy events after which no healthy event
has come yet.
"""
XID_CHECK = "SysLogsXIDError"

Action = Literal["NONE", "COMPONENT_RESET", "CONTACT_SUPPORT", "RESTART_VM", "RESTART_BM"]
DCGM_ERRORS: Mapping[str, tuple[str, Action]] = {
    "DCGM_FR_VOLATILE_DBE_DETECTED": ("GpuMemWatch", "COMPONENT_RESET"),
    "DCGM_FR_UNCONTAINED_ERROR": ("GpuMemWatch", "RESTART_VM"),
    "DCGM_FR_ROW_REMAP_FAILURE": ("GpuMemWatch", "CONTACT_SUPPORT"),
    "DCGM_FR_PENDING_ROW_REMAP": ("GpuMemWatch", "COMPONENT_RESET"),
    "DCGM_FR_FALLEN_OFF_BUS": ("GpuAllWatch", "RESTART_BM"),
    "DCGM_FR_XID_ERROR": ("GpuAllWatch", "NONE"),
    "DCGM_FR_GPU_RECOVERY_RESET": ("GpuAllWatch", "COMPONENT_RESET"),
    "DCGM_FR_GPU_RECOVERY_REBOOT": ("GpuAllWatch", "RESTART_BM"),
    "DCGM_FR_NVLINK_DOWN": ("GpuNvlinkWatch", "RESTART_VM"),
    "DCGM_FR_PCI_REPLAY_RATE": ("GpuPcieWatch", "CONTACT_SUPPORT"),
    "DCGM_FR_CLOCKS_EVENT_THERMAL": ("GpuThermalWatch", "NONE"),
    "DCGM_FR_CLOCKS_EVENT_POWER": ("GpuPowerWatch", "NONE"),
    "DCGM_CONNECTIVITY_ERROR": ("GpuDcgmConnectivityFailure", "CONTACT_SUPPORT"),
}
"""Check and recommended action for each error code of DCGM. The check's name is also the type of the node condition."""
_ACTIONS: dict[str, Action] = {
    "RESTART_APP": "NONE",
    "IGNORE": "NONE",
    "RESET_GPU": "COMPONENT_RESET",
    "WORKFLOW_XID_48": "COMPONENT_RESET",
    "RESTART_VM": "RESTART_VM",
    "RESTART_BM": "RESTART_BM",
}


def xid_action(action: str) -> Action:
    """NVSentinel's recommended action for an Xid. `action`: NVIDIA's immediate action for the Xid
    (syslog-health-monitor/pkg/common).

    The result is CONTACT_SUPPORT if `action` is unknown (for example that of Xid 45, a killed job); the event is then
    fatal.
    """
    return _ACTIONS.get(action, "CONTACT_SUPPORT")
