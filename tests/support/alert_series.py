"""Series of a healthy cluster, in promtool's notation, from which the cases of alerts are made."""

from __future__ import annotations

from collections.abc import Iterator

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
