"""Cases of each alert in which it fires, and cases in which it nearly fires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.alert_series import (
    BREAKER,
    CLAIMED,
    H100,
    KAI,
    LISTENER,
    MINUTES,
    ND,
    OPERAND,
    PLUGIN_READY,
    RTX,
    TRIPPED,
    WORKER,
    always,
    busy,
    dcgm,
    joined,
    of,
    phase,
    port,
    rising,
    then,
)


@dataclass(frozen=True)
class Case:
    """Changes of the healthy cluster, and the alert that fires from them after some minutes, if one does."""

    alert: str
    minutes: int
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    without: tuple[str, ...] = ()
    """Beginnings of the names of series that are left out."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the one alert that fires; empty if none does."""


def _xid(code: int, node: str = H100) -> dict[str, str]:
    return {dcgm("DCGM_EXP_XID_ERRORS_COUNT", node, xid=str(code)): f"_x9 1x5 0x{MINUTES}"}


def _gauge(name: str, value: float, **labels: str) -> dict[str, str]:
    return {dcgm(name, **labels): then(0, 10, value)}


WAITING = {
    phase('namespace="osmo-workflows",pod="waits"', "Pending"): then(0, 10, 1),
    'kube_pod_container_resource_requests{namespace="osmo-workflows",pod="waits",container="task",'
    'resource="nvidia_com_gpu"}': always(1),
}
ON_CPU = {
    phase('namespace="osmo-workflows",pod="waits"', "Pending"): always(1),
    'kube_pod_container_resource_requests{namespace="osmo-workflows",pod="waits",resource="cpu"}': always(1),
}
SECOND = {name: always(value) for name, value in joined("aks-h100gpu-1-vmss000001", "h100gpu")}
ALLOCATABLE = of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu", unit="integer")
AT_H100 = {"node": H100}
AT_RTX = {"node": RTX}
AT_ND = {"node": ND}
READY = {
    status: of("kube_node_status_condition", H100, condition="Ready", status=status) for status in ("true", "unknown")
}
EVICTION = of("kube_node_spec_taint", H100, key="remediator.kubernetes.azure.com/unschedulable", effect="NoSchedule")
CORDON = of("kube_node_spec_taint", H100, key="node.kubernetes.io/unschedulable", effect="NoSchedule")

CASES = (
    Case("GPUXidNodeFault", 14, _xid(48), labels={**AT_H100, "xid": "48", "severity": "critical"}),
    Case("GPUXidNodeFault", 22, _xid(79, RTX), labels={**AT_RTX, "xid": "79"}),
    Case("GPUXidNodeFault", 14, _xid(31)),
    Case("GPUXidNodeFault", 45, _xid(48)),
    Case("GPUXidJobError", 14, _xid(31), labels={**AT_H100, "xid": "31", "owner": "job", "severity": "info"}),
    Case("GPUXidJobError", 14, _xid(48)),
    Case("GPUXidInformation", 14, _xid(63), labels={**AT_H100, "xid": "63", "severity": "info"}),
    Case("GPUXidInformation", 14, _xid(64)),
    Case("GPURecoveryActionRequired", 15, _gauge("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 2), labels=AT_H100),
    Case("GPURecoveryActionRequired", 11, _gauge("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 2)),
    Case("GPUUncorrectableECC", 15, _gauge("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1), labels=AT_H100),
    Case("GPUUncorrectableECC", 60, _gauge("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 1)),
    Case("GPUCorrectableECCRate", 90, {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"): rising(5)}, labels=AT_H100),
    Case("GPUCorrectableECCRate", 90, {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"): rising(1)}),
    Case(  # each instance has the count of its GPU
        "GPUCorrectableECCRate",
        90,
        {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", GPU_I_ID=instance): rising(1) for instance in "12"},
    ),
    Case("GPURowRemapFailed", 11, _gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", 1), labels={**AT_H100, "owner": "azure"}),
    Case("GPURowRemapFailed", 60, _gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1)),
    Case(
        "GPURowRemapPending", 75, _gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1), labels={**AT_H100, "severity": "warning"}
    ),
    Case("GPURowRemapPending", 60, _gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1)),
    Case("GPUHealthFailure", 20, _gauge("DCGM_EXP_GPU_HEALTH_STATUS", 20, health_watch="ALL"), labels=AT_H100),
    Case("GPUHealthFailure", 60, _gauge("DCGM_EXP_GPU_HEALTH_STATUS", 10, health_watch="ALL")),
    Case("GPUHealthWarning", 30, _gauge("DCGM_EXP_GPU_HEALTH_STATUS", 10, health_watch="ALL"), labels=AT_H100),
    Case("GPUHealthWarning", 60, _gauge("DCGM_EXP_GPU_HEALTH_STATUS", 20, health_watch="ALL")),
    Case("GPUThermalThrottling", 30, {dcgm("DCGM_FI_DEV_THERMAL_VIOLATION"): rising(6e9)}, labels=AT_H100),
    Case("GPUThermalThrottling", 60, {dcgm("DCGM_FI_DEV_THERMAL_VIOLATION"): rising(6e8)}),
    Case("GPUTooHot", 25, _gauge("DCGM_FI_DEV_GPU_TEMP", 88), labels=AT_H100),
    Case("GPUTooHot", 60, _gauge("DCGM_FI_DEV_GPU_TEMP", 87)),
    Case("GPUPowerCapped", 60, {dcgm("DCGM_FI_DEV_POWER_VIOLATION"): rising(36e9)}, labels=AT_H100),
    Case("GPUPowerCapped", 60, {dcgm("DCGM_FI_DEV_POWER_VIOLATION"): rising(6e9)}),
    Case("GPUPcieReplays", 60, {dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"): rising(120)}, labels=AT_H100),
    Case("GPUPcieReplays", 60, {dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"): rising(6)}),
    Case("GPUAllocatableBelowCapacity", 16, {ALLOCATABLE: then(1, 10, 0)}, labels=AT_H100),
    Case("GPUAllocatableBelowCapacity", 12, {ALLOCATABLE: then(1, 10, 0)}),
    # While a device plugin does not run, the kubelet keeps its capacity for 5 minutes; no GPU is unhealthy then.
    Case("GPUAllocatableBelowCapacity", 60, {ALLOCATABLE: then(1, 10, 0), PLUGIN_READY: then(1, 10, 0)}),
    Case(
        "GPUNodeMissingGPUs",
        31,
        {ALLOCATABLE: then(1, 10, 0), PLUGIN_READY: always(0)},
        labels={**AT_H100, "pool": "h100gpu"},
    ),
    Case("GPUNodeMissingGPUs", 25, {ALLOCATABLE: then(1, 10, 0), PLUGIN_READY: always(0)}),
    Case("GPUNodeMissingGPUs", 60, {ALLOCATABLE: then(1, 10, 0)}),
    Case("GPUTelemetryAbsent", 60, without=(dcgm("DCGM_FI_DEV_FB_USED", RTX),), labels=AT_RTX),
    Case("GPUTelemetryAbsent", 60, without=(dcgm("DCGM_FI_DEV_GPU_TEMP"),)),
    Case("ClusterTelemetryAbsent", 20, without=("kube_",), labels={"severity": "critical"}),
    Case("ClusterTelemetryAbsent", 20, without=("kube_node_labels",), labels={"severity": "critical"}),
    Case("ClusterTelemetryAbsent", 60, without=(of("kube_node_info", RTX), of("kube_node_labels", RTX)[:-1])),
    Case("GPUNodeNotReady", 16, {READY["true"]: then(1, 10, 0), READY["unknown"]: then(0, 10, 1)}, labels=AT_H100),
    Case(
        "GPUNodeNotReady",
        60,
        {of("kube_node_status_condition", "aks-cpu-1", condition="Ready", status="unknown"): always(1)},
    ),
    Case("GPUDriverNotReady", 36, {of("gpu_operator_node_driver_ready", H100): then(1, 10, 0)}, labels=AT_H100),
    Case("GPUDriverNotReady", 30, {of("gpu_operator_node_driver_ready", H100): then(1, 10, 0)}),
    Case("GPUToolkitNotReady", 36, {of("gpu_operator_node_toolkit_ready", H100): then(1, 10, 0)}, labels=AT_H100),
    Case(
        "GPUToolkitNotReady",
        60,
        {of("gpu_operator_node_toolkit_ready", H100): always(0), of("gpu_operator_node_driver_ready", H100): always(0)},
    ),
    Case(
        "GPUDevicePluginNotReady",
        36,
        {of("gpu_operator_node_device_plugin_devices_total", H100): then(1, 10, 0)},
        labels=AT_H100,
    ),
    Case(
        "GPUDevicePluginNotReady",
        60,
        {
            of("gpu_operator_node_device_plugin_devices_total", H100): always(0),
            of("gpu_operator_node_toolkit_ready", H100): always(0),
        },
    ),
    Case("GPUOperandPending", 36, {phase(OPERAND, "Pending"): then(0, 10, 1)}, labels={"namespace": "gpu-operator"}),
    Case("GPUOperandPending", 60, {phase('namespace="other",pod="a"', "Pending"): always(1)}),
    Case(
        "GPUOperatorReconcileFailing",
        41,
        {"gpu_operator_reconciliation_status": then(1, 10, 0)},
        without=tuple(f'{name}{{node="{CLAIMED}"' for name in ("kube_node_info", "kube_node_labels")),
        labels={"owner": "platform"},
    ),
    Case("GPUOperatorReconcileFailing", 60, {"gpu_operator_reconciliation_status": always(0)}),  # claimed GPUs
    Case("GPUOperatorReconcileFailing", 35, {"gpu_operator_reconciliation_status": then(1, 10, 0)}),
    Case(
        "GPUDriverUpgradeFailed",
        41,
        {"gpu_operator_nodes_upgrades_failed": then(0, 10, 1)},
        labels={"owner": "platform"},
    ),
    Case("GPUDriverUpgradeFailed", 35, {"gpu_operator_nodes_upgrades_failed": then(0, 10, 1)}),
    Case(
        "GPUNodeConditionBad",
        12,
        {of("kube_node_status_condition", H100, condition="GpuNvlinkWatch", status="true"): then(0, 10, 1)},
        labels={**AT_H100, "condition": "GpuNvlinkWatch"},
    ),
    Case(
        "GPUNodeConditionBad",
        60,
        {of("kube_node_status_condition", H100, condition="DiskPressure", status="true"): always(1)},
    ),
    Case("GPUQuarantineStopped", 11, {TRIPPED: f"_x9 1x{MINUTES}"}, labels={"owner": "platform"}),
    Case("GPUQuarantineStopped", 60, {BREAKER.replace("STATE", "CLOSED"): always(1)}),
    Case("GridDriverNotReady", 41, {of("grid_driver_ready", RTX): then(1, 10, 0)}, labels=AT_RTX),
    Case("GridDriverNotReady", 35, {of("grid_driver_ready", RTX): then(1, 10, 0)}),
    Case("GridDriverRolledBack", 11, {of("grid_driver_rolled_back", RTX): then(0, 10, 1)}, labels=AT_RTX),
    Case("GridDriverRolledBack", 60, {of("grid_driver_ready", RTX): always(0)}),
    Case("GridAgentFailing", 21, {of("grid_driver_agent_faults", RTX): then(0, 10, 4)}, labels=AT_RTX),
    Case("GridAgentFailing", 60, {of("grid_driver_agent_faults", RTX): always(3)}),
    Case("GridAgentAbsent", 60, without=("grid_driver_",), labels=AT_RTX),
    Case("GridAgentAbsent", 15, without=("grid_driver_",)),
    # An agent that needs the licence is not ready without it.
    Case(
        "GridLicenseMissing",
        26,
        {of("grid_driver_licensed", RTX): then(1, 10, 0), of("grid_driver_ready", RTX): then(1, 10, 0)},
        labels=AT_RTX,
    ),
    Case(  # no driver is installed yet
        "GridLicenseMissing",
        60,
        {of("grid_driver_licensed", RTX): always(0), of("grid_driver_info", RTX, installed=""): always(1)},
        without=("grid_driver_info",),
    ),
    Case("GridLicenseMissingByDCGM", 60, {dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX): then(1, 10, 0)}, labels=AT_RTX),
    Case("GridLicenseMissingByDCGM", 20, {dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX): then(1, 10, 0)}),
    Case(
        "GPUAllocatedButIdle",
        100,
        {busy("DCGM_FI_PROF_GR_ENGINE_ACTIVE"): then(0.9, 10, 0), busy("DCGM_FI_DEV_GPU_UTIL"): then(95, 10, 0)},
        labels={**AT_H100, "exported_pod": "train", "owner": "job"},
    ),
    Case(  # a GPU that is idle because nothing holds it
        "GPUAllocatedButIdle",
        100,
        {dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", RTX): always(0)},
    ),
    Case(  # a GPU of which only the utilization is known
        "GPUAllocatedButIdle",
        100,
        without=("DCGM_FI_PROF_GR_ENGINE_ACTIVE",),
    ),
    Case("InfiniBandPortDown", 16, {port("node_infiniband_state_id"): then(4, 10, 1)}, labels=AT_ND),
    Case("InfiniBandPortDown", 12, {port("node_infiniband_state_id"): then(4, 10, 1)}),
    Case("InfiniBandLinkFlapping", 60, {port("node_infiniband_link_downed_total"): then(0, 10, 3)}, labels=AT_ND),
    Case("InfiniBandLinkFlapping", 60, {port("node_infiniband_link_downed_total"): then(0, 10, 2)}),
    Case("InfiniBandErrors", 60, {port("node_infiniband_port_errors_received_total"): rising(120)}, labels=AT_ND),
    Case("InfiniBandErrors", 60, {port("node_infiniband_port_errors_received_total"): rising(6)}),
    Case("InfiniBandSymbolErrors", 60, {port("node_infiniband_symbol_error_total"): then(0, 20, 20)}, labels=AT_ND),
    Case("InfiniBandSymbolErrors", 60, {port("node_infiniband_symbol_error_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandLinkRecoveries",
        60,
        {port("node_infiniband_link_error_recovery_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case("InfiniBandLinkRecoveries", 60, {port("node_infiniband_link_error_recovery_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandLinkIntegrity",
        60,
        {port("node_infiniband_local_link_integrity_errors_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case("InfiniBandLinkIntegrity", 60, {port("node_infiniband_local_link_integrity_errors_total"): then(0, 20, 9)}),
    Case(
        "InfiniBandBufferOverruns",
        60,
        {port("node_infiniband_excessive_buffer_overrun_errors_total"): then(0, 20, 20)},
        labels=AT_ND,
    ),
    Case(
        "InfiniBandBufferOverruns", 60, {port("node_infiniband_excessive_buffer_overrun_errors_total"): then(0, 20, 9)}
    ),
    Case(
        "InfiniBandTransmitDiscards",
        60,
        {port("node_infiniband_port_discards_transmitted_total"): then(0, 20, 200)},
        labels=AT_ND,
    ),
    Case("InfiniBandTransmitDiscards", 60, {port("node_infiniband_port_discards_transmitted_total"): then(0, 20, 99)}),
    Case("InfiniBandManagementDrops", 60, {port("node_infiniband_vl15_dropped_total"): then(0, 20, 200)}, labels=AT_ND),
    Case("InfiniBandManagementDrops", 60, {port("node_infiniband_vl15_dropped_total"): then(0, 20, 99)}),
    Case("InfiniBandTelemetryAbsent", 60, without=("node_infiniband_",), labels=AT_ND),
    Case("InfiniBandTelemetryAbsent", 15, without=("node_infiniband_",)),
    Case("GPUPodPending", 31, WAITING, labels={"pod": "waits"}),
    Case("GPUPodPending", 60, ON_CPU),
    Case("GPUPoolAtMaximum", 26, {**WAITING, **SECOND}, labels={"pool": "h100gpu", "severity": "info"}),
    Case("GPUPoolAtMaximum", 60, {**SECOND, ALLOCATABLE: always(1)}),
    Case("GPUNodeEviction", 11, {EVICTION: f"_x9 1x{MINUTES}"}, labels={**AT_H100, "owner": "azure"}),
    Case("GPUNodeEviction", 60, {CORDON: always(1)}),
    Case("OsmoAgentDown", 21, {phase(LISTENER, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("OsmoAgentDown", 21, {phase(WORKER, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("OsmoAgentDown", 15, {phase(LISTENER, "Running"): then(1, 10, 0)}),
    Case("KaiSchedulerDown", 21, {phase(KAI, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("KaiSchedulerDown", 60, {phase('namespace="kai-scheduler",pod="admission-0"', "Running"): always(0)}),
)
