"""The dashboard to open first: it shows someone who was just woken whether anything is wrong, and where."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts, pools
from docs.generator.dashboards.parts import Query, figures, firing, lines, number
from docs.generator.dashboards.pools import FIRING

_NAMES = (
    "severity, alertname, cluster, pool, node, device, gpu, gpu_id, namespace, exported_namespace, pod, exported_pod"
)
_ALIVE = "physical_ai:node_pool"


def dashboard() -> Dashboard:
    found = parts.dashboard("physical-ai-status", "Is anything wrong?")
    found = found.with_variable(parts.choice("pool", "pool", "physical_ai:node_pool"))
    for panel in _now():
        found = found.with_panel(panel)
    found = found.with_row(parts.row("What"))
    found = found.with_panel(
        firing(
            "Alerts that fire",
            Query(
                f"{_known(f'max by ({_NAMES}) (ALERTS{{{FIRING}}})')}", "{{severity}} {{alertname}} {{node}} {{pod}}"
            ),
            text="The name leads to what it means and what to do. Read from Prometheus' series ALERTS. Whether Azure"
            " Monitor keeps that is not known: look at its page of alerts too.",
            width=24,
        )
    )
    found = found.with_row(parts.row("Where"))
    found = found.with_panel(
        figures(
            "Pools",
            Query(pools.WANTED, "{{pool}} wanted"),
            Query(pools.NODES, "{{pool}} nodes"),
            Query(pools.HEALTHY, "{{pool}} healthy"),
            Query(pools.CAPACITIES, "{{pool}} GPUs"),
            Query(pools.ALLOCATABLE, "{{pool}} offered"),
            text="Healthy nodes are ready, take work, offer all their GPUs, and have no critical alert.",
            width=12,
        )
    )
    found = found.with_panel(
        figures(
            "Nodes with alerts",
            Query(_zero_node(f'count by (node) (ALERTS{{{FIRING},node!=""}})'), "{{node}} alerts"),
            text="physai why NODE STACK names the cause, and what repairs it.",
            width=6,
        )
    )
    return found.with_panel(
        lines(
            "Alerts, by severity",
            *(
                Query(f'count(ALERTS{{{FIRING},severity="{each}"}}) or sum({_ALIVE}) * 0', each)
                for each in ("critical", "warning", "info")
            ),
            width=6,
            stacked=True,
            colors={"critical": "red", "warning": "orange", "info": "blue"},
        )
    )


def _now() -> tuple[parts.stat.Panel, ...]:
    nodes, healthy = (f"sum({each})" for each in (pools.NODES, pools.HEALTHY))
    offered = f"sum({pools.CAPACITIES}) - sum({pools.ALLOCATABLE})"
    free = f"sum(({pools.positive(pools.CAPACITIES, pools.recorded(pools.BUSY))}) * {pools.PRICE})"
    return (
        number("Critical alerts", Query(_count("critical"), ""), bad="red", text="Act now.", width=3),
        number("Warnings", Query(_count("warning"), ""), bad="orange", text="Act today.", width=3),
        number(
            "GPU nodes with a problem",
            Query(f"{nodes} - {healthy}", ""),
            bad="red",
            text="Not ready, closed to work, without all their GPUs, or with a critical alert.",
        ),
        number("Healthy GPU nodes", Query(healthy, ""), text="All others.", width=3),
        number(
            "GPUs not offered",
            Query(f"clamp_min({offered}, 0)", ""),
            bad="red",
            text="Of those that nodes have.",
            width=3,
        ),
        number("Pods that wait for a GPU", Query(f"{pools.WAITING} or sum({_ALIVE}) * 0", ""), width=4),
        number(
            "Unused GPUs",
            Query(free, ""),
            unit="currencyUSD",
            text="USD an hour at list price: held and not busy, or held by nobody.",
            width=4,
        ),
    )


def _count(severity: str) -> str:
    return f'count(ALERTS{{{FIRING},severity="{severity}"}}) or sum({_ALIVE}) * 0'


def _known(alerts: str) -> str:
    """Query for the alerts; a single line that says so where none fires."""
    return parts.or_zero(alerts, _ALIVE, "alertname")


def _zero_node(alerts: str) -> str:
    return parts.or_zero(alerts, _ALIVE, "node")
