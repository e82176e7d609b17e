"""Series that a healthy cluster's exporters have for a stack's pools, one node in each."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog.telemetry_rows import dcgm_fields
from physical_ai.telemetry.parameters import Parameters, PoolFacts, metric_resource

TASK = 'namespace="osmo-workflows",pod="train"'
HELD = 'exported_namespace="osmo-workflows",exported_pod="train"'
AMD = ("gfx_activity", "health", "ecc_uncorrect_total", "junction_temperature")
PORTS = (
    "state_id",
    "link_downed_total",
    "link_error_recovery_total",
    "port_discards_transmitted_total",
    "port_errors_received_total",
    "symbol_error_total",
)
AGENTS = (
    'up{job="osmo-operator/osmo-agents",pod="backend-listener-0"}',
    'kb_event_watch_count_total{event_type="pod"}',
    'backend_listener_queue_event_count_total{event_type="pod"}',
    'backend_listener_queue_length_count{queue_type="send_queue_pod"}',
)
SERVICE = (
    'up{job="osmo-control-plane/osmo-service",pod="osmo-service-0"}',
    'up{job="osmo-control-plane/osmo-agent",pod="osmo-agent-0"}',
    'osmo_service_worker_job_queue_length_count{job_type="FREQUENT"}',
    'osmo_backend_worker_job_queue_length_count{job_type="default:FREQUENT"}',
    "osmo_delayed_job_length_count",
)
CONTAINER = (
    f'container_cpu_usage_seconds_total{{{TASK},container="task"}}',
    f'container_memory_working_set_bytes{{{TASK},container="task"}}',
    f'kube_pod_container_resource_requests{{{TASK},container="task",resource="cpu"}}',
    f'kube_pod_container_resource_requests{{{TASK},container="task",resource="memory"}}',
)


def healthy_series(parameters: Parameters) -> dict[str, float]:
    """Value by series. A task holds the resources of the first node that offers any; there is no fault, no Xid and no
    alert.
    """
    found: dict[str, float] = {}
    holder = next((pool for pool in parameters.pools if pool.resources), None)
    for pool in parameters.pools:
        found |= dict(_of_pool(pool, parameters, held=pool is holder))
    if holder is not None:
        resource = metric_resource(next(iter(holder.resources)))
        found[f'kube_pod_container_resource_requests{{{TASK},node="{_node(holder)}",resource="{resource}"}}'] = 1
        found |= dict.fromkeys(CONTAINER, 1)
        found[f'kube_pod_status_phase{{{TASK},phase="Running"}}'] = 1
        names = (
            f'label_osmo_workflow_id="nightly-1",label_osmo_task_name="train",label_physical_ai_pool="{holder.name}"'
        )
        found[f"kube_pod_labels{{{TASK},{names}}}"] = 1
    found |= dict.fromkeys(AGENTS if parameters.osmo_namespace else (), 1)
    return found | dict.fromkeys(SERVICE if parameters.osmo_service else (), 1)


def _node(pool: PoolFacts) -> str:
    return f"{pool.name}-1.example.com"


def _of_pool(pool: PoolFacts, parameters: Parameters, *, held: bool) -> Iterator[tuple[str, float]]:
    node = f'node="{_node(pool)}"'
    yield f"kube_node_info{{{node}}}", 1
    yield f'kube_node_labels{{{node},label_agentpool="{pool.name}"}}', 1
    yield f'kube_node_status_condition{{{node},condition="Ready",status="true"}}', 1
    for resource, count in pool.resources.items():
        for name in ("capacity", "allocatable"):
            yield f'kube_node_status_{name}{{{node},resource="{metric_resource(resource)}"}}', count
    pod = f",{HELD}" if held else ""
    if pool.amd:
        for name in AMD:
            yield f'amd_gpu_{name}{{{node},gpu_id="0"{pod}}}', 1
        return
    for name, field in dcgm_fields().items():
        if name in parameters.counters and (not pool.virtual or field.vgpu == "yes"):
            yield f'{name}{{{node},gpu="0",DCGM_FI_DRIVER_VERSION="595.91.07"{pod}}}', 0
    for name in ("driver_ready", "toolkit_ready", "device_plugin_devices_total"):
        yield f"gpu_operator_node_{name}{{{node}}}", 1
    if pool.grid:
        yield f"grid_driver_licensed{{{node}}}", 1
    for name in PORTS if pool.infiniband else ():
        yield f'node_infiniband_{name}{{instance="{_node(pool)}",device="mlx5_0",port="1"}}', 0
