"""Values of one stack for the placeholders in alert and recording rule expressions, such as `$gpu_pools`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from physical_ai.catalog.dcgm_health import dcgm_health, health_codes, warned_elsewhere
from physical_ai.catalog.telemetry_rows import xids, xids_of
from physical_ai.telemetry.parameters import Parameters, PoolFacts, any_of, metric_resource
from physical_ai.telemetry.rule_conditions import EMPTY, existing
from physical_ai.telemetry.rule_rows import alert_rows

LEAVING_TAINTS = (
    "node.kubernetes.io/unschedulable",
    "ToBeDeletedByClusterAutoscaler",
    "remediator.kubernetes.azure.com/unschedulable",
)
"""Keys of taints on nodes that are being removed or worked on: Kubernetes' taint of a cordoned node, the cluster
autoscaler's taint of a node to delete, and AKS's taint of a node before Pods are evicted.
"""
AMD_BUSY = ' or amd_gpu_gfx_activity{exported_pod!=""} / 100'
"""Expression for the activity of AMD GPUs, which is appended to DCGM's in a stack with AMD pools."""


def values(parameters: Parameters) -> dict[str, str]:
    pools = [pool for pool in parameters.pools if pool.resources]
    there = [pool for pool in parameters.pools if pool.resources or pool.claims]
    return {
        **dict(_yielded(parameters)),
        "node_xids": _codes("node"),
        "job_xids": _codes("job"),
        "information_xids": _codes("information"),
        "companion_xids": any_of(str(code) for code, xid in xids().items() if xid.companion),
        "unhealthy_never": any_of(health_codes("echo", "harmless")),
        "unhealthy_nvlink": any_of(health_codes("switched")),
        "warned_elsewhere": any_of(warned_elsewhere(existing(parameters))),
        "health_conditions": any_of(dcgm_health().conditions),
        "leaving_taints": any_of(LEAVING_TAINTS),
        "gpu_pools": any_of(pool.name for pool in there),
        "dcgm_pools": any_of(pool.name for pool in there if not pool.amd),
        "amd_pools": any_of(pool.name for pool in pools if pool.amd),
        "grid_pools": any_of(pool.name for pool in pools if pool.grid),
        "claim_pools": any_of(pool.name for pool in parameters.pools if pool.claims),
        "nvlink_pools": any_of(pool.name for pool in there if pool.nvlink),
        "slurm_namespace": parameters.slurm_namespace,
        "infiniband_pools": any_of(pool.name for pool in pools if pool.infiniband),
        "gpu_resources": _resources(pools),
        "dcgm_resources": _resources(pool for pool in pools if not pool.amd),
        "amd_resources": _resources(pool for pool in pools if pool.amd),
        "amd_busy": AMD_BUSY if any(pool.amd for pool in pools) else "",
        "pool_label": metric_resource(parameters.pool_label),
        "operator_namespace": parameters.operator_namespace,
        "osmo_namespace": parameters.osmo_namespace or "",
        "kai_namespace": parameters.kai_namespace,
        "kai_scheduler": parameters.kai_scheduler,
        "offered_of_pool": _of_pools({pool.name: sum(pool.resources.values()) for pool in pools}),
        "least_of_pool": _of_pools({pool.name: pool.least for pool in pools}),
        "most_of_pool": _of_pools({pool.name: pool.most for pool in pools}),
        "usd_of_pool": _of_pools({pool.name: pool.usd for pool in pools if pool.usd is not None}),
    }


def _of_pools(values: Mapping[str, float]) -> str:
    """Expression with one series for each pool; an expression without series if `values` is empty.

    >>> _of_pools({"h100gpu": 7})
    '(label_replace(vector(7), "pool", "h100gpu", "", ""))'
    """
    series = (f'label_replace(vector({number(value)}), "pool", "{name}", "", "")' for name, value in values.items())
    return f"({' or '.join(series) or 'vector(0) > 0'})"


def _resources(pools: Iterable[PoolFacts]) -> str:
    """Regular expression for the resources of these pools."""
    return any_of(sorted({metric_resource(name) for pool in pools for name in pool.resources}))


def _yielded(parameters: Parameters) -> Iterator[tuple[str, str]]:
    """Values of placeholders in the expressions by which one alert suppresses another. The expression suppresses if a
    measurement is greater than the placeholder.

    `$told_<alert>`, for every alert: `-Inf` if the stack has the alert, so that the alert always suppresses.
    `$threshold_<alert>`, for an alert with a threshold: the threshold, if the stack has the alert.
    Both are `Inf` if the stack lacks the alert, so that the alert never suppresses.
    """
    there = existing(parameters)
    for name, each in alert_rows().items():
        yield f"told_{name}", "-Inf" if name in there else "Inf"
        if each.threshold is not None:
            own = parameters.overrides.get(name, EMPTY).threshold
            value = each.threshold.default if own is None else own
            yield f"threshold_{name}", number(value) if name in there else "Inf"


def pool_values(pool: PoolFacts) -> Mapping[str, str]:
    return {
        "pool": pool.name,
        "resources": _resources([pool]),
        "offered": str(sum(pool.resources.values())),
        "most": str(pool.most),
        "gpus": str(pool.gpus),
    }


def _codes(xid_class: Literal["job", "node", "information"]) -> str:
    return any_of(str(code) for code in xids_of(xid_class))


def number(value: float) -> str:
    text = f"{value:.10g}"
    if not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?", text):
        raise ValueError(f"{value} is not a number")
    return text
