"""Dashboard of the fleet: the GPUs of each pool, who uses them at what cost, and what is wrong with them."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.builders.table import Panel as Table
from grafana_foundation_sdk.builders.timeseries import Panel as Lines

from docs.generator.dashboards import parts, pools
from docs.generator.dashboards.parts import Query, figures, lines
from docs.generator.dashboards.pools import BUSY, CHOSEN, HELD, PRICE, of_pools, on_nodes, positive, recorded

_SHOWN = 10
"""Number of lines that a panel about GPUs shows: the worst ones of possibly a thousand."""
_GPU = "{{node}} GPU {{gpu}}"


def dashboard() -> Dashboard:
    found = parts.dashboard("physical-ai-fleet", "GPU fleet")
    found = found.with_variable(parts.choice("pool", "pool", "physical_ai:node_pool"))
    for title, panels in (
        ("Pools", _pools),
        ("Use", _use),
        ("Cost", _cost),
        ("Faults", _faults),
        ("Heat and power", _limits),
        ("InfiniBand", _ports),
        ("AMD's GPUs", _amd),
        ("Software", _software),
    ):
        found = found.with_row(parts.row(title))
        for panel in panels():
            found = found.with_panel(panel)
    return found


def _hours(series: str, labels: str) -> str:
    """Query for the GPU-hours of a recorded series, which has one sample a minute, in the time range shown."""
    return f"sum by ({labels}) (sum_over_time({series}{CHOSEN}[$__range])) / 60"


def _usd(series: str) -> str:
    """Query for the cost in USD of a series' GPU-hours by pool, at the list price of the pool's GPU."""
    return f"({_hours(series, 'pool')}) * {PRICE}"


def _usd_by_namespace(series: str) -> str:
    return f"sum by (namespace) (({_hours(series, 'namespace, pool')}) * {PRICE})"


def _pools() -> tuple[Lines, ...]:
    return (
        lines(
            "Nodes with GPUs",
            Query(pools.WITH_GPUS, "{{pool}}"),
            text="Nodes that offer GPUs, by pool, one above the other.",
            stacked=True,
        ),
        lines(
            "Nodes that are missing",
            Query(positive(pools.WANTED, pools.NODES), "{{pool}} not there"),
            Query(positive(pools.NODES, pools.READY), "{{pool}} not ready"),
            Query(positive(pools.READY, pools.WITH_GPUS), "{{pool}} without GPUs"),
            text="Against what the GPUs that Pods ask for need, between the minimum and the maximum of the pool.",
            stacked=True,
        ),
        lines(
            "GPUs that are not offered",
            Query(positive(pools.CAPACITIES, pools.ALLOCATABLE), "{{pool}}"),
            text="Of those that nodes have: the device plugin has marked them unhealthy.",
            stacked=True,
            alert="GPUAllocatableBelowCapacity",
        ),
    )


def _use() -> tuple[Lines | Table, ...]:
    held, busy = recorded(HELD), recorded(BUSY)
    return (
        lines(
            "Where GPUs go",
            Query(f"sum({busy})", "busy"),
            Query(f"sum({positive(held, busy)})", "held, not busy"),
            Query(f"sum({positive(pools.CAPACITIES, held)})", "held by nobody"),
            Query(f"sum({positive(recorded(pools.ASKED), held)})", "asked for, waiting"),
            text="All chosen pools. The first three are the GPUs that nodes have.",
            stacked=True,
        ),
        figures(
            "GPU-hours by namespace",
            Query(_hours("physical_ai:gpus_asked", "namespace").replace(CHOSEN, ""), "{{namespace}} asked"),
            Query(_hours(HELD, "namespace"), "{{namespace}} held"),
            Query(_hours(BUSY, "namespace"), "{{namespace}} busy"),
            unit="h",
            text="In the time shown. Asked and not held is what waited; held and not busy is what idled.",
        ),
        lines(
            "Stranded GPUs",
            Query(recorded(pools.IDLE), "{{pool}} held and idle"),
            Query(recorded(pools.UNSCHEDULABLE), "{{pool}} unschedulable"),
            text="Held by a Pod that has not used them for half an hour, or on a node that takes no work.",
            alert="GPUAllocatedButIdle",
            stacked=True,
        ),
    )


def _cost() -> tuple[Lines | Table, ...]:
    prices = "List prices, without discounts or Spot's."
    held, busy = recorded(HELD), recorded(BUSY)
    return (
        lines(
            "USD per hour",
            Query(f"sum(({busy}) * {PRICE})", "busy"),
            Query(f"sum(({positive(held, busy)}) * {PRICE})", "held, not busy"),
            Query(f"sum(({positive(pools.CAPACITIES, held)}) * {PRICE})", "held by nobody"),
            unit="currencyUSD",
            text=f"What the nodes cost, by what their GPUs do. {prices}",
            stacked=True,
        ),
        figures(
            "USD by pool",
            Query(_usd(pools.CAPACITY), "{{pool}} nodes"),
            Query(_usd(HELD), "{{pool}} held"),
            Query(_usd(BUSY), "{{pool}} busy"),
            Query(
                f"{_usd(pools.CAPACITY)} - on (pool) ({_usd(BUSY)} or {_usd(pools.CAPACITY)} * 0)", "{{pool}} unused"
            ),
            unit="currencyUSD",
            text=f"In the time shown; unused is all that was not busy. {prices}",
        ),
        figures(
            "USD by namespace",
            Query(_usd_by_namespace(HELD), "{{namespace}} held"),
            Query(_usd_by_namespace(BUSY), "{{namespace}} busy"),
            unit="currencyUSD",
            text=f"In the time shown. {prices}",
        ),
    )


def _each_gpu(series: str) -> str:
    return on_nodes(f"max by (cluster, node, gpu) ({series})")


def _worst(series: str) -> str:
    return f"topk({_SHOWN}, {_each_gpu(series)})"


def _each_node(name: str, worst: str = "min") -> str:
    return on_nodes(f"{worst} by (cluster, node) ({name})")


def _faults() -> tuple[Lines | Table, ...]:
    xids = on_nodes('max by (cluster, node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{xid!=""}) > 0')
    named = f'label_join({xids}, "gpu", " Xid ", "gpu", "xid")'
    named = f'label_join({named}, "name", " GPU ", "node", "gpu")'
    return (
        lines(
            "Xids",
            Query(parts.or_zero(named, "DCGM_EXP_XID_ERRORS_COUNT", "name"), "{{name}}"),
            text="How often within the exporter's window of five minutes. GPUs without an Xid are not drawn.",
            alert="GPUXidNodeFault",
        ),
        lines(
            "Correctable memory errors in an hour",
            Query(_worst("increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])"), _GPU),
            text=f"The {_SHOWN} GPUs with most.",
            alert="GPUCorrectableECCRate",
        ),
        figures(
            "Memory to repair",
            Query(_worst("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"), f"{_GPU} uncorrectable"),
            Query(_worst("DCGM_FI_DEV_ROW_REMAP_PENDING"), f"{_GPU} pending"),
            Query(_worst("DCGM_FI_DEV_ROW_REMAP_FAILURE"), f"{_GPU} failed"),
            text="Uncorrectable errors since the driver was loaded. Rows to remap: pending: restart the node; failed:"
            " replace it.",
        ),
    )


def _limits() -> tuple[Lines, ...]:
    of_time = "Share of the time, of the"
    return (
        lines(
            "Temperature",
            Query(_worst("DCGM_FI_DEV_GPU_TEMP"), _GPU),
            unit="celsius",
            text=f"The {_SHOWN} hottest GPUs. vGPUs report none.",
            alert="GPUTooHot",
        ),
        lines(
            "Limited by heat",
            Query(_worst("rate(DCGM_FI_DEV_THERMAL_VIOLATION[5m]) / 1e9"), _GPU),
            unit="percentunit",
            text=f"{of_time} {_SHOWN} GPUs with most.",
            alert="GPUThermalThrottling",
        ),
        lines(
            "Limited by power",
            Query(_worst("rate(DCGM_FI_DEV_POWER_VIOLATION[15m]) / 1e9"), _GPU),
            unit="percentunit",
            text=f"{of_time} {_SHOWN} GPUs with most.",
            alert="GPUPowerCapped",
        ),
        lines(
            "Power",
            Query(f"sum by (pool) ({of_pools('sum by (cluster, node) (DCGM_FI_DEV_POWER_USAGE)')})", "{{pool}}"),
            unit="watt",
            text="Of all GPUs of a pool. vGPUs report none.",
            stacked=True,
        ),
        lines(
            "PCIe replays",
            Query(_worst("rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[15m])"), _GPU),
            unit="cps",
            text=f"The {_SHOWN} GPUs with most.",
            alert="GPUPcieReplays",
        ),
    )


def _ports() -> tuple[Lines, ...]:
    port = "{{node}} {{device}}/{{port}}"

    def worst(name: str) -> str:
        of_node = f'label_replace(increase(node_infiniband_{name}[1h]), "node", "$1", "instance", "(.+)")'
        return f"topk({_SHOWN}, {on_nodes(f'max by (cluster, node, device, port) ({of_node})')})"

    text = f"In an hour, of the {_SHOWN} ports with most."
    return (
        lines("Symbol errors", Query(worst("symbol_error_total"), port), text=text, alert="InfiniBandSymbolErrors"),
        lines(
            "Links that recovered",
            Query(worst("link_error_recovery_total"), port),
            text=text,
            alert="InfiniBandLinkRecoveries",
        ),
        lines(
            "Packets not sent",
            Query(worst("port_discards_transmitted_total"), port),
            text=text,
            alert="InfiniBandTransmitDiscards",
        ),
    )


def _amd() -> tuple[Lines, ...]:
    gpu = "{{node}} GPU {{gpu_id}}"

    def worst(name: str) -> str:
        return f"topk({_SHOWN}, {on_nodes(f'max by (cluster, node, gpu_id) (amd_gpu_{name})')})"

    return (
        lines("Junction temperature", Query(worst("junction_temperature"), gpu), unit="celsius", alert="AMDGPUTooHot"),
        lines("Uncorrectable errors", Query(worst("ecc_uncorrect_total"), gpu), alert="AMDGPUUncorrectableErrors"),
        lines("Engine active", Query(f"{worst('gfx_activity')} / 100", gpu), unit="percentunit"),
    )


def _software() -> tuple[Table, ...]:
    driver = on_nodes("count by (cluster, node, DCGM_FI_DRIVER_VERSION) (DCGM_FI_DEV_FB_USED)")
    return (
        figures(
            "Driver versions",
            Query(driver, "{{node}} {{DCGM_FI_DRIVER_VERSION}} GPUs"),
            text="With the number of GPUs.",
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
