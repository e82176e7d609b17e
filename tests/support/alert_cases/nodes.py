"""Cases of alerts about nodes and the GPU Operator on them."""

from __future__ import annotations

from tests.support.alert_cases.case import AT_H100, AT_RTX, Case
from tests.support.alert_series import (
    BREAKER,
    CLAIMED,
    H100,
    MINUTES,
    OPERAND,
    PLUGIN_READY,
    RTX,
    TRIPPED,
    always,
    claimed,
    dcgm,
    of,
    phase,
    then,
)

ALLOCATABLE = of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu", unit="integer")
READY = {
    status: of("kube_node_status_condition", H100, condition="Ready", status=status) for status in ("true", "unknown")
}
EVICTION = of("kube_node_spec_taint", H100, key="remediator.kubernetes.azure.com/unschedulable", effect="NoSchedule")
CORDON = of("kube_node_spec_taint", H100, key="node.kubernetes.io/unschedulable", effect="NoSchedule")
MIG = of("kube_node_labels", "mig-1", label_agentpool="sliced", label_nvidia_com_mig_config_state="STATE")
GONE = "1000x9 stale"
CASES = (
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
    Case("GPUOperatorReconcileFailing", 60, {"gpu_operator_reconciliation_status": always(0)}),  # claimed GPUs,
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
    Case("GPUNodeEviction", 11, {EVICTION: f"_x9 1x{MINUTES}"}, labels={**AT_H100, "owner": "azure"}),
    Case("GPUNodeEviction", 60, {CORDON: always(1)}),
    Case("GPUNodeMissingDevices", 36, {claimed(1): GONE}, labels={"node": CLAIMED, "pool": "claimed"}),
    # Two Pods that share a GPU have a series each, and these are still about one GPU.
    Case(
        "GPUNodeMissingDevices",
        36,
        {claimed(1): GONE, claimed(0).replace("}", ',exported_pod="b"}'): always(1)},
        labels={"node": CLAIMED},
    ),
    Case("GPUNodeMissingDevices", 25, {claimed(1): GONE}),
    Case("GPUMigConfigFailed", 25, {MIG.replace("STATE", "failed"): f"_x9 1x{MINUTES}"}, labels={"node": "mig-1"}),
    Case("GPUMigConfigFailed", 60, {MIG.replace("STATE", "pending"): always(1)}),
)
