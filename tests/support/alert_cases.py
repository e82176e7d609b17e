"""Series of a healthy cluster, and for each alert cases in which it fires, and cases in which it nearly fires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

H100, RTX = "aks-h100gpu-1-vmss000000", "rtxpro-1.lab.example.com"
"""Names of two nodes, one in the form that AKS uses and one in another form, since no rule may depend on the form."""
ND = "b200-1"
"""Name of a node with InfiniBand."""
PORT_COUNTERS = (
    "excessive_buffer_overrun_errors_total",
    "link_downed_total",
    "link_error_recovery_total",
    "local_link_integrity_errors_total",
    "port_discards_transmitted_total",
    "port_errors_received_total",
    "symbol_error_total",
    "vl15_dropped_total",
)
CLAIMED = "aks-claimed-1-vmss000000"
"""Name of a node whose two GPUs are allocated by resource claims (DRA)."""
MI300X = "gpu-node-07"
"""Name of a node with AMD's GPUs."""
MINUTES = 240
TRAIN = 'namespace="osmo-workflows",pod="train"'


def always(value: float) -> str:
    """Series, in promtool's notation, that keeps one value during the whole test."""
    return f"{value:g}x{MINUTES}"


def then(before: float, minutes: int, after: float) -> str:
    """Series, in promtool's notation, that changes its value once, after some minutes."""
    return f"{before:g}x{minutes - 1} {after:g}x{MINUTES - minutes}"


def rising(per_minute: float) -> str:
    """Series, in promtool's notation, of a counter that rises by the same amount each minute."""
    return f"0+{per_minute:g}x{MINUTES}"


def dcgm(name: str, node: str = H100, **labels: str) -> str:
    """Name and labels of a series of the DCGM exporter about the first GPU of a node."""
    more = "".join(f',{key}="{value}"' for key, value in labels.items())
    return f'{name}{{node="{node}",gpu="0",UUID="GPU-{node}"{more}}}'


def claimed(gpu: int) -> str:
    """Name and labels of the series with the used memory of a GPU of the node CLAIMED."""
    return f'DCGM_FI_DEV_FB_USED{{node="{CLAIMED}",gpu="{gpu}",UUID="GPU-{gpu}"}}'


def amd(name: str, **labels: str) -> str:
    """Name and labels of a series of AMD's exporter."""
    more = "".join(f',{key}="{value}"' for key, value in labels.items())
    return f'amd_gpu_{name}{{node="{MI300X}",gpu_id="0"{more}}}'


def busy(name: str, node: str = H100) -> str:
    """Name and labels of a series of the DCGM exporter about a GPU that a task holds."""
    return dcgm(name, node, exported_namespace="osmo-workflows", exported_pod="train")


def of(name: str, node: str, **labels: str) -> str:
    """Name and labels of a series about a node."""
    more = "".join(f',{key}="{value}"' for key, value in labels.items())
    return f'{name}{{node="{node}"{more}}}'


def phase(pod: str, phase: str) -> str:
    return f'kube_pod_status_phase{{{pod},phase="{phase}"}}'


AGENTS = ("osmo-operator-backend-listener-0", "osmo-operator-backend-worker-0")
LISTENER, WORKER = (f'namespace="osmo-operator",pod="{name}"' for name in AGENTS)
KAI = 'namespace="kai-scheduler",pod="kai-scheduler-default-0"'
BREAKER = 'fault_quarantine_breaker_state{namespace="nvsentinel",pod="fault-quarantine-0",state="STATE"}'
TRIPPED = BREAKER.replace("STATE", "TRIPPED")
OPERAND = 'namespace="gpu-operator",pod="nvidia-device-plugin-daemonset-0"'
PLUGIN_READY = f'kube_pod_container_status_ready{{{OPERAND},container="nvidia-device-plugin"}}'


def joined(node: str, pool: str) -> Iterator[tuple[str, float]]:
    """Series of kube-state-metrics about a node and its pool."""
    yield of("kube_node_info", node), 1
    yield of("kube_node_labels", node, label_agentpool=pool), 1


POOLS = {H100: "h100gpu", RTX: "rtxprogpu", ND: "ndgpu", CLAIMED: "claimed", MI300X: "mi300x"}


def healthy() -> dict[str, str]:
    """Series of a cluster with a node in each pool and a task on the H100, by their names and labels."""
    return {series: always(value) for series, value in _healthy()}


def _healthy() -> Iterator[tuple[str, float]]:
    for node, pool in POOLS.items():
        yield from joined(node, pool)
    for gpu in (0, 1):
        yield claimed(gpu), 1000
    for node in (H100, RTX, ND):
        for status, value in (("true", 1), ("false", 0), ("unknown", 0)):
            yield of("kube_node_status_condition", node, condition="Ready", status=status), value
        yield of("kube_node_status_condition", node, condition="GpuNvlinkWatch", status="true"), 0
        for name in ("kube_node_status_capacity", "kube_node_status_allocatable"):
            yield of(name, node, resource="nvidia_com_gpu", unit="integer"), 1
        yield from _gpu(node)
        yield of("gpu_operator_node_driver_ready", node), 1
        yield of("gpu_operator_node_toolkit_ready", node), 1
        yield of("gpu_operator_node_device_plugin_devices_total", node), 1
    for name in ("kube_node_status_capacity", "kube_node_status_allocatable"):
        yield of(name, MI300X, resource="amd_com_gpu", unit="integer"), 8
    for name, value in (("gfx_activity", 0), ("health", 1), ("ecc_uncorrect_total", 0), ("junction_temperature", 60)):
        yield amd(name), value
    yield port("node_infiniband_state_id"), 4
    for name in PORT_COUNTERS:
        yield port(f"node_infiniband_{name}"), 0
    yield dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", H100), 0  # without a vGPU there is no licence
    yield dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX), 1
    for name, value in (("ready", 1), ("licensed", 1), ("rolled_back", 0), ("agent_faults", 0)):
        yield of(f"grid_driver_{name}", RTX), value
    yield of("grid_driver_info", RTX, installed="595.91.07"), 1
    yield f'kube_pod_info{{{OPERAND},node="{H100}"}}', 1
    yield PLUGIN_READY, 1
    yield "gpu_operator_reconciliation_status", 1
    yield "gpu_operator_nodes_upgrades_failed", 0
    for pod in (LISTENER, WORKER, KAI, OPERAND, TRAIN):
        yield phase(pod, "Running"), 1
        yield phase(pod, "Pending"), 0
    request = (
        f'kube_pod_container_resource_requests{{{TRAIN},container="task",node="{H100}",resource="nvidia_com_gpu"}}'
    )
    yield request, 1


def port(name: str, node: str = ND) -> str:
    return f'{name}{{instance="{node}",device="mlx5_0",port="1"}}'


def _gpu(node: str) -> Iterator[tuple[str, float]]:
    yield dcgm("DCGM_FI_DEV_FB_USED", node), 1000
    yield dcgm("DCGM_EXP_XID_ERRORS_COUNT", node), 0
    if node != H100:
        return  # a vGPU guest reports little more
    yield busy("DCGM_FI_PROF_GR_ENGINE_ACTIVE", node), 0.9
    yield busy("DCGM_FI_DEV_GPU_UTIL", node), 95
    yield dcgm("DCGM_FI_DEV_GPU_TEMP", node), 60
    yield dcgm("DCGM_EXP_GPU_HEALTH_STATUS", node, health_watch="ALL"), 0
    for name in (
        "GET_GPU_RECOVERY_ACTION",
        "ECC_SBE_VOL_TOTAL",
        "ECC_DBE_VOL_TOTAL",
        "ROW_REMAP_FAILURE",
        "ROW_REMAP_PENDING",
        "THERMAL_VIOLATION",
        "POWER_VIOLATION",
        "PCIE_REPLAY_COUNTER",
    ):
        yield dcgm(f"DCGM_FI_DEV_{name}", node), 0


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
