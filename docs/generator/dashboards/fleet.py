"""The fleet: what each pool has, who uses it at what cost, what is wrong with it."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.builders.table import Panel as Table
from grafana_foundation_sdk.builders.timeseries import Panel as Lines

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, figures, lines

_POOL = '"pool", "$1", "node", "aks-([a-z0-9]+)-.+"'
"""Last arguments of label_replace: the pool of a node."""
_NODES = 'node=~"aks-($pool)-.+"'
_CHOSEN = '{pool=~"$pool"}'
_GPUS = 'resource=~"nvidia_com_.+"'
ASKED, HELD, BUSY = "physical_ai:gpus_wanted", "physical_ai:gpus_held", "physical_ai:gpus_busy"
IDLE, UNSCHEDULABLE, CAPACITY = "physical_ai:gpus_idle", "physical_ai:gpus_unschedulable", "physical_ai:gpus_capacity"
PRICE = "physical_ai:gpu_hour_usd"


def dashboard() -> Dashboard:
    found = parts.dashboard("physical-ai-fleet", "GPU fleet")
    found = found.with_variable(parts.choice("pool", "node", "kube_node_info", "aks-([a-z0-9]+)-.+"))
    for title, panels in (
        ("Pools", _pools),
        ("Use", _use),
        ("Cost", _cost),
        ("Faults", _faults),
        ("Software", _software),
    ):
        found = found.with_row(parts.row(title))
        for panel in panels():
            found = found.with_panel(panel)
    return found


def _by_pool(expression: str) -> str:
    return f"sum by (pool) (label_replace({expression}, {_POOL}))"


def _gpu_pools(expression: str) -> str:
    """By pool, without those that have no GPUs."""
    return f"{_by_pool(expression)} and on (pool) physical_ai:nodes_wanted"


def _or_zero(series: str) -> str:
    """A recorded series by pool; 0 for a pool without a sample, so that the panel is not empty."""
    return f"sum by (pool) ({series}{_CHOSEN}) or sum by (pool) ({CAPACITY}{_CHOSEN}) * 0"


def _hours(series: str, labels: str) -> str:
    """GPU-hours of a recorded series in the time shown: it has one sample a minute."""
    return f"sum by ({labels}) (sum_over_time({series}{_CHOSEN}[$__range])) / 60"


def _usd(series: str) -> str:
    """The hours of a series by pool, at the list price of the pool's GPU."""
    return f"{_hours(series, 'pool')} * on (pool) group_left () max by (pool) ({PRICE})"


def _usd_by_namespace(series: str) -> str:
    hours = _hours(series, "namespace, pool")
    return f"sum by (namespace) ({hours} * on (pool) group_left () max by (pool) ({PRICE}))"


_PENDING = (
    'sum by (namespace) (sum by (namespace, pod) (kube_pod_status_phase{phase="Pending"}) and on (namespace, pod)'
    f" sum by (namespace, pod) (kube_pod_container_resource_requests{{{_GPUS}}}) > 0)"
)


def _pools() -> tuple[Lines, ...]:
    ready = f'kube_node_status_condition{{{_NODES},condition="Ready",status="true"}}'
    with_gpus = f"(sum by (node) (kube_node_status_allocatable{{{_NODES},{_GPUS}}}) > bool 0)"
    return (
        lines(
            "Nodes",
            Query(f"sum by (pool) (physical_ai:nodes_wanted{_CHOSEN})", "{{pool}} wanted"),
            Query(_gpu_pools(f"kube_node_info{{{_NODES}}}"), "{{pool}} nodes"),
            Query(_gpu_pools(ready), "{{pool}} ready"),
            Query(_by_pool(with_gpus), "{{pool}} with GPUs"),
            text="Wanted: enough for the GPUs that Pods ask for, between the minimum and the maximum of the pool.",
        ),
        lines(
            "GPUs",
            Query(_by_pool(f"kube_node_status_capacity{{{_NODES},{_GPUS}}}"), "{{pool}} capacity"),
            Query(_by_pool(f"kube_node_status_allocatable{{{_NODES},{_GPUS}}}"), "{{pool}} allocatable"),
            text="Fewer allocatable GPUs than capacity: the device plugin has marked one unhealthy.",
        ),
        lines(
            "Pods that wait for a GPU",
            Query(parts.or_zero(_PENDING, "kube_node_info", "namespace"), "{{namespace}} waiting"),
        ),
    )


def _use() -> tuple[Lines | Table, ...]:
    return (
        lines(
            "GPUs asked for, held and busy",
            Query(_or_zero(ASKED), "{{pool}} asked"),
            Query(_or_zero(HELD), "{{pool}} held"),
            Query(_or_zero(BUSY), "{{pool}} busy"),
        ),
        figures(
            "GPU-hours by namespace",
            Query(_hours("physical_ai:gpus_asked", "namespace").replace(_CHOSEN, ""), "{{namespace}} asked"),
            Query(_hours(HELD, "namespace"), "{{namespace}} held"),
            Query(_hours(BUSY, "namespace"), "{{namespace}} busy"),
            unit="h",
            text="In the time shown. Asked and not held is what waited; held and not busy is what idled.",
        ),
        lines(
            "Stranded GPUs",
            Query(_or_zero(IDLE), "{{pool}} held and idle"),
            Query(_or_zero(UNSCHEDULABLE), "{{pool}} unschedulable"),
        ),
    )


def _cost() -> tuple[Lines | Table, ...]:
    prices = "List prices, without discounts or Spot's."
    rate = f"* on (pool) group_left () max by (pool) ({PRICE})"
    return (
        lines(
            "USD per hour",
            Query(f"sum by (pool) ({CAPACITY}{_CHOSEN}) {rate}", "{{pool}} nodes"),
            Query(f"({_or_zero(HELD)}) {rate}", "{{pool}} held"),
            Query(f"({_or_zero(BUSY)}) {rate}", "{{pool}} busy"),
            unit="currencyUSD",
            text=prices,
        ),
        figures(
            "USD by pool",
            Query(_usd(ASKED), "{{pool}} asked"),
            Query(_usd(HELD), "{{pool}} held"),
            Query(_usd(BUSY), "{{pool}} busy"),
            unit="currencyUSD",
            text=f"In the time shown. {prices}",
        ),
        figures(
            "USD by namespace",
            Query(_usd_by_namespace(HELD), "{{namespace}} held"),
            Query(_usd_by_namespace(BUSY), "{{namespace}} busy"),
            unit="currencyUSD",
            text=f"In the time shown. {prices}",
        ),
    )


def _each_gpu(name: str) -> str:
    return f"max by (node, gpu) ({name}{{{_NODES}}})"


def _each_node(name: str, worst: str = "min") -> str:
    return f"{worst} by (node) ({name}{{{_NODES}}})"


def _faults() -> tuple[Lines | Table, ...]:
    gpu = "{{node}} GPU {{gpu}}"
    return (
        lines(
            "Xids",
            Query(f"max by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{{_NODES}}})", f"{gpu} Xid {{{{xid}}}}"),
            text="Within the exporter's window of five minutes; a series without a number is a GPU without an Xid.",
        ),
        lines(
            "Memory errors",
            Query(_each_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"), f"{gpu} uncorrectable"),
            Query(_each_gpu("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"), f"{gpu} correctable"),
            text="Since the driver was loaded.",
        ),
        figures(
            "Row remaps",
            Query(_each_gpu("DCGM_FI_DEV_ROW_REMAP_PENDING"), f"{gpu} pending"),
            Query(_each_gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE"), f"{gpu} failed"),
            text="Pending: restart the node. Failed: replace it.",
        ),
        lines("Temperature", Query(_each_gpu("DCGM_FI_DEV_GPU_TEMP"), gpu), unit="celsius", text="vGPUs report none."),
        lines("Power", Query(_each_gpu("DCGM_FI_DEV_POWER_USAGE"), gpu), unit="watt", text="vGPUs report none."),
        lines(
            "Time throttled",
            Query(f"max by (node) (rate(DCGM_FI_DEV_THERMAL_VIOLATION{{{_NODES}}}[5m])) / 1e9", "{{node}} heat"),
            Query(f"max by (node) (rate(DCGM_FI_DEV_POWER_VIOLATION{{{_NODES}}}[5m])) / 1e9", "{{node}} power"),
            unit="percentunit",
        ),
    )


def _software() -> tuple[Table, ...]:
    driver = f"count by (node, DCGM_FI_DRIVER_VERSION) (DCGM_FI_DEV_FB_USED{{{_NODES}}})"
    return (
        figures(
            "Driver versions", Query(driver, "{{node}} {{DCGM_FI_DRIVER_VERSION}}"), text="With the number of GPUs."
        ),
        figures(
            "Driver, toolkit, GPUs",
            Query(_each_node("gpu_operator_node_driver_ready"), "{{node}} driver"),
            Query(_each_node("gpu_operator_node_toolkit_ready"), "{{node}} toolkit"),
            Query(_each_node("gpu_operator_node_device_plugin_devices_total"), "{{node}} GPUs"),
            text="1: ready; the number of GPUs of the device plugin.",
        ),
        figures("vGPU licences", Query(_each_node("grid_driver_licensed"), "{{node}} licensed"), text="1: licensed."),
    )
