"""The fleet: what each pool has, who uses it, what is wrong with it."""

from __future__ import annotations

from physical_ai.telemetry.dashboards.model import Dashboard, Panel, Query, Row, Variable

_POOL = '"pool", "$$1", "node", "aks-([a-z0-9]+)-.+"'
"""Last arguments of label_replace: the pool of a node. `$$` is a dollar sign."""
_NODES = 'node=~"aks-($pool)-.+"'
_GPUS = 'resource=~"nvidia_com_.+"'


def _by_pool(expression: str) -> str:
    return f"sum by (pool) (label_replace({expression}, {_POOL}))"


def _hours(series: str) -> str:
    """GPU-hours of a recorded series in the time shown: it has one sample a minute."""
    return f'sum by (namespace) (sum_over_time({series}{{pool=~"$pool"}}[$__range])) / 60'


def _or_zero(series: str) -> str:
    """A recorded series by pool; 0 for a pool without a sample, so that the panel is not empty."""
    chosen = '{pool=~"$pool"}'
    return f"sum by (pool) ({series}{chosen}) or sum by (pool) (physical_ai:gpus_capacity{chosen}) * 0"


_PENDING = f"""\
sum by (namespace) (sum by (namespace, pod) (kube_pod_status_phase{{phase="Pending"}})
and on (namespace, pod) sum by (namespace, pod) (kube_pod_container_resource_requests{{{_GPUS}}}) > 0) or vector(0)"""

POOLS = Row(
    "Pools",
    (
        Panel(
            "Nodes",
            (
                Query(_by_pool(f"kube_node_info{{{_NODES}}}"), "{{pool}} nodes"),
                Query(
                    _by_pool(f'kube_node_status_condition{{{_NODES},condition="Ready",status="true"}}'),
                    "{{pool}} ready",
                ),
                Query(
                    _by_pool(f"(sum by (node) (kube_node_status_allocatable{{{_NODES},{_GPUS}}}) > bool 0)"),
                    "{{pool}} with GPUs",
                ),
            ),
        ),
        Panel(
            "GPUs",
            (
                Query(_by_pool(f"kube_node_status_capacity{{{_NODES},{_GPUS}}}"), "{{pool}} capacity"),
                Query(_by_pool(f"kube_node_status_allocatable{{{_NODES},{_GPUS}}}"), "{{pool}} allocatable"),
            ),
            text="Fewer allocatable GPUs than capacity: the device plugin has marked one unhealthy.",
        ),
        Panel("Pods that wait for a GPU", (Query(_PENDING, "{{namespace}}"),)),
    ),
)

USE = Row(
    "Use",
    (
        Panel(
            "GPUs held and busy",
            (
                Query(_or_zero("physical_ai:gpus_held"), "{{pool}} held"),
                Query(_or_zero("physical_ai:gpus_busy"), "{{pool}} busy"),
            ),
        ),
        Panel(
            "GPU-hours by namespace",
            (
                Query(_hours("physical_ai:gpus_held"), "{{namespace}} held"),
                Query(_hours("physical_ai:gpus_busy"), "{{namespace}} busy"),
            ),
            unit="h",
            kind="table",
            text="In the time shown. Held and not busy is what idles.",
        ),
        Panel(
            "Stranded GPUs",
            (
                Query(_or_zero("physical_ai:gpus_idle"), "{{pool}} held and idle"),
                Query(_or_zero("physical_ai:gpus_unschedulable"), "{{pool}} unschedulable"),
            ),
        ),
    ),
)

FAULTS = Row(
    "Faults",
    (
        Panel(
            "Xids",
            (
                Query(
                    f"max by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{{_NODES}}})", "{{node}} {{gpu}} Xid {{xid}}"
                ),
            ),
            text="Within the exporter's window of five minutes; a series without a number is a GPU without an Xid.",
        ),
        Panel(
            "Memory errors",
            (
                Query(
                    f"max by (node, gpu) (DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{_NODES}}})", "{{node}} {{gpu}} uncorrectable"
                ),
                Query(
                    f"max by (node, gpu) (DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{{{_NODES}}})", "{{node}} {{gpu}} correctable"
                ),
            ),
        ),
        Panel(
            "Row remaps",
            (
                Query(f"max by (node, gpu) (DCGM_FI_DEV_ROW_REMAP_PENDING{{{_NODES}}})", "{{node}} {{gpu}} pending"),
                Query(f"max by (node, gpu) (DCGM_FI_DEV_ROW_REMAP_FAILURE{{{_NODES}}})", "{{node}} {{gpu}} failed"),
            ),
            kind="table",
        ),
        Panel(
            "Temperature",
            (Query(f"max by (node, gpu) (DCGM_FI_DEV_GPU_TEMP{{{_NODES}}})", "{{node}} {{gpu}}"),),
            unit="celsius",
            text="vGPUs report none.",
        ),
        Panel(
            "Power",
            (Query(f"max by (node, gpu) (DCGM_FI_DEV_POWER_USAGE{{{_NODES}}})", "{{node}} {{gpu}}"),),
            unit="watt",
            text="vGPUs report none.",
        ),
        Panel(
            "Time throttled",
            (
                Query(f"max by (node) (rate(DCGM_FI_DEV_THERMAL_VIOLATION{{{_NODES}}}[5m])) / 1e9", "{{node}} heat"),
                Query(f"max by (node) (rate(DCGM_FI_DEV_POWER_VIOLATION{{{_NODES}}}[5m])) / 1e9", "{{node}} power"),
            ),
            unit="percentunit",
        ),
    ),
)

SOFTWARE = Row(
    "Software",
    (
        Panel(
            "Driver versions",
            (Query(f"count by (node, DCGM_FI_DRIVER_VERSION) (DCGM_FI_DEV_FB_USED{{{_NODES}}})", "{{node}}"),),
            kind="table",
        ),
        Panel(
            "Driver, toolkit, GPUs",
            (
                Query(f"min by (node) (gpu_operator_node_driver_ready{{{_NODES}}})", "{{node}} driver"),
                Query(f"min by (node) (gpu_operator_node_toolkit_ready{{{_NODES}}})", "{{node}} toolkit"),
                Query(f"min by (node) (gpu_operator_node_device_plugin_devices_total{{{_NODES}}})", "{{node}} GPUs"),
            ),
            kind="table",
        ),
        Panel(
            "vGPU licences",
            (Query(f"min by (node) (grid_driver_licensed{{{_NODES}}})", "{{node}}"),),
            kind="table",
            text="1: licensed.",
        ),
    ),
)

FLEET = Dashboard(
    "fleet",
    "GPU fleet",
    (Variable("pool", "node", "kube_node_info", "aks-([a-z0-9]+)-.+"),),
    (POOLS, USE, FAULTS, SOFTWARE),
)
