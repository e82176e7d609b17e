"""GPU-hours by user: the queries, and the table that follows from their results. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from physical_ai.telemetry.rendering import INTERVAL_SECONDS

Measure = Literal["asked", "held", "busy", "idle"]
_SERIES: dict[Measure, str] = {
    "asked": "physical_ai:gpus_asked",
    "held": "physical_ai:gpus_held",
    "busy": "physical_ai:gpus_busy",
    "idle": "physical_ai:gpus_idle",
}
SPAN = re.compile(r"^[1-9]\d{0,3}[mhdw]$")
LABELS = "labels"
_WORKFLOW, _QUEUE = "label_osmo_workflow_id", "label_kai_scheduler_queue"


@dataclass(frozen=True)
class Sample:
    """One sample in the result of a query."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class Usage:
    """GPU-hours of one workflow in one pool.

    A Pod without a workflow, for example for debugging, has a row of its own.
    """

    namespace: str
    workflow: str
    """Name of the workflow; empty for a Pod without a workflow."""
    pod: str
    """Name of the Pod; empty for a workflow."""
    queue: str
    pool: str
    """Pool of the node; empty for a Pod that was never placed on a node."""
    asked: float
    held: float
    busy: float
    idle: float
    """GPU-hours during which a Pod held GPUs that had hardly been active for half an hour, or since the Pod's start."""
    usd: float | None
    """Price in USD of the GPU-hours held, at the list price of the node's GPUs; None without a price."""
    idle_usd: float | None = None
    """Part of `usd` for the GPU-hours in `idle`; None without a price."""


def queries(span: str) -> dict[str, str]:
    """Queries by name, over a time range that ends now, such as `7d`. Raises ValueError for another form of range."""
    if not SPAN.match(span):
        raise ValueError(f"'{span}' is not a time like 12h, 7d or 4w")
    rate = f"* {INTERVAL_SECONDS} / 3600"
    found = {
        measure: f"sum by (namespace, pod, pool) (sum_over_time({series}[{span}])) {rate}"
        for measure, series in _SERIES.items()
    }
    kept = f"namespace, pod, {_WORKFLOW}, {_QUEUE}"
    found[LABELS] = f'max by ({kept}) (max_over_time(kube_pod_labels{{{_WORKFLOW}!=""}}[{span}]))'
    return found


def usage(results: Mapping[str, Sequence[Sample]], prices: Mapping[str, float]) -> tuple[Usage, ...]:
    """Rows of the usage table, the most expensive workflow first.

    Args:
        results: Results of `queries` by name.
        prices: USD per GPU-hour by pool.
    """
    pods = {_pod(each): each.labels for each in results.get(LABELS, ())}
    pools = {_pod(each): each.labels.get("pool", "") for each in results.get("held", ())}
    hours: dict[tuple[str, str, str, str, str], dict[str, float]] = {}
    for measure in _SERIES:
        for each in results.get(measure, ()):
            pod = _pod(each)
            labels = pods.get(pod, {})
            workflow = labels.get(_WORKFLOW, "")
            # Requests are recorded without a node; they count for the pool in which the Pod then ran.
            pool = each.labels.get("pool") or pools.get(pod, "")
            key = (pod[0], workflow, "" if workflow else pod[1], labels.get(_QUEUE, ""), pool)
            row = hours.setdefault(key, dict.fromkeys(_SERIES, 0.0))
            row[measure] += each.value
    rows = [
        Usage(*key, **row, usd=_usd(row["held"], price), idle_usd=_usd(row["idle"], price))
        for key, row in hours.items()
        for price in [prices.get(key[4])]
    ]
    return tuple(sorted(rows, key=lambda row: (-(row.usd or 0), -row.held, row.namespace, row.workflow, row.pod)))


def _usd(hours: float, price: float | None) -> float | None:
    return None if price is None else hours * price


def _pod(sample: Sample) -> tuple[str, str]:
    return sample.labels.get("namespace", ""), sample.labels.get("pod", "")
