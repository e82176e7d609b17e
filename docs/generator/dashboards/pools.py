"""Expressions about pools and their nodes that several dashboards have."""

from __future__ import annotations

CHOSEN = '{pool=~"$pool"}'
POOL_OF_NODE = f"physical_ai:node_pool{CHOSEN}"
ASKED, HELD, BUSY = "physical_ai:gpus_wanted", "physical_ai:gpus_held", "physical_ai:gpus_busy"
IDLE, UNSCHEDULABLE, CAPACITY = "physical_ai:gpus_idle", "physical_ai:gpus_unschedulable", "physical_ai:gpus_capacity"
WANTED = f"sum by (pool) (physical_ai:nodes_wanted{CHOSEN})"
"""Query for the wanted nodes by pool with GPUs; a pool of no nodes has no series."""
PRICE = "on (pool) group_left () max by (pool) (physical_ai:gpu_hour_usd)"
_GPUS = 'resource=~"(nvidia|amd)_com_.+"'
FIRING = 'alertstate="firing",theme!=""'
"""Selector of alerts of our own rules: a Prometheus may have others, such as kube-prometheus-stack's Watchdog, which
always fires."""
_READY = 'max by (cluster, node) (kube_node_status_condition{condition="Ready",status="true"})'
OFFERED = f"sum by (cluster, node) (kube_node_status_allocatable{{{_GPUS}}})"


def of_pools(series: str) -> str:
    """Query for the series of nodes in the chosen pools, with the label `pool`; the series has one sample per node."""
    return f"({series}) * on (cluster, node) group_left (pool) {POOL_OF_NODE}"


def on_nodes(series: str) -> str:
    """Query for the series of nodes in the chosen pools, with the labels unchanged."""
    return f"{series} and on (cluster, node) {POOL_OF_NODE}"


def by_pool(series: str) -> str:
    """The sum over the nodes of each chosen pool that has GPUs; 0 where it has no node."""
    found = f"sum by (pool) ({of_pools(series)})"
    return f"({found} and on (pool) {WANTED}) or {WANTED} * 0"


NODES = by_pool("max by (cluster, node) (kube_node_info)")
READY = by_pool(_READY)
WITH_GPUS = by_pool(f"{OFFERED} > bool 0")
CAPACITIES = f"sum by (pool) ({CAPACITY}{CHOSEN}) or {WANTED} * 0"
ALLOCATABLE = by_pool(OFFERED)
HEALTHY = by_pool(
    f"({OFFERED} == on (cluster, node) sum by (cluster, node) ({CAPACITY}) and on (cluster, node) {OFFERED} > 0"
    f" and on (cluster, node) {_READY} == 1 unless on (cluster, node) {UNSCHEDULABLE}"
    f' unless on (cluster, node) ALERTS{{{FIRING},severity="critical"}}) > bool 0'
)
"""Query for the number of nodes by pool that are ready, take work, offer every GPU that they have, and have no
critical alert.
"""
WAITING = (
    'sum(sum by (cluster, namespace, pod) (kube_pod_status_phase{phase="Pending"}) and on (cluster, namespace, pod)'
    f" sum by (cluster, namespace, pod) (kube_pod_container_resource_requests{{{_GPUS}}}) > 0)"
)


def recorded(series: str) -> str:
    """Query for a recorded series by pool; 0 for a pool without a sample, so that no panel is empty."""
    return f"sum by (pool) ({series}{CHOSEN}) or {WANTED} * 0"


def positive(more: str, less: str) -> str:
    """Query for the excess of the first query over the second by pool, never below 0."""
    return f"clamp_min(({more}) - on (pool) ({less}), 0)"
