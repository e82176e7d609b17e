"""The alerts and recording rules: rows of `data/rules/` and of parts, and the rules of one stack that follow from them.

Expressions name values of the stack as `$pool`; `$$` is a dollar sign. Nothing else of the data is completed, but for
the summary and the meaning of a rule that exists once for each pool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from physical_ai.catalog.dcgm_health import dcgm_health, health_codes, warned_elsewhere
from physical_ai.catalog.load import CatalogError, read_mapping, row
from physical_ai.catalog.node_causes import ADVISED_COMMANDS, alert_action
from physical_ai.catalog.rows import Row, Text
from physical_ai.catalog.telemetry_rows import xids, xids_of
from physical_ai.repository import PARTS
from physical_ai.telemetry.parameters import Override, Parameters, PoolFacts, any_of, metric_resource
from physical_ai.telemetry.promql import metrics

FILES = Path(__file__).parent / "data" / "rules"
OF_PART = "alerts.yaml"
"""Name of the file with a part's own rules, in its folder."""
PAGE = "alerts.md"

Severity = Literal["critical", "warning", "info"]
Owner = Literal["platform", "job", "azure"]
Condition = Literal[
    "gpu-pools", "grid-pools", "amd-pools", "infiniband-pools", "mig-pools", "aks", "quarantine", "osmo"
]
Each = Literal["gpu-pool", "autoscaled-pool", "claim-pool"]
EMPTY = Override()
LEAVING_TAINTS = (
    "node.kubernetes.io/unschedulable",
    "ToBeDeletedByClusterAutoscaler",
    "remediator.kubernetes.azure.com/unschedulable",
)
"""Taints of nodes that somebody takes away, or works on: cordoned, of the autoscaler, of AKS before an eviction."""
AMD_BUSY = ' or amd_gpu_gfx_activity{exported_pod!=""} / 100'
"""The engine of AMD's GPUs, added to DCGM's where a stack has such pools."""


class Threshold(Row):
    """The number that an expression compares with, which settings can change within its limits."""

    default: float
    unit: Text
    least: float
    most: float

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.least <= self.default <= self.most:
            raise ValueError(f"the default {self.default} is not within {self.least} and {self.most}")
        return self


class AlertRow(Row):
    """One alert, for any stack."""

    alert: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]+$")]
    expression: Text
    hold_minutes: Annotated[int, Field(ge=0, le=1440)]
    """Time that the expression has to be true, in minutes."""
    severity: Severity
    owner: Owner
    """Person who acts: the platform's team, the owner of the job, or Azure."""
    summary: Text
    """A Prometheus template."""
    meaning: Text
    action: Text
    """Action of the reader. For an alert about a node the table of its causes has it
    (catalog/data/gpu/node_causes.yaml)."""
    commands: tuple[Text, ...]
    """Words in capital letters are the reader's to replace."""
    meaning_elsewhere: Text = "-"
    """Meaning in an existing cluster, where Azure has no part in it; "-" for the same."""
    when: Condition | None = None
    """Condition on a stack for the alert to exist."""
    each: Each | None = None
    """One alert for each such pool."""
    threshold: Threshold | None = None
    source: Text

    @property
    def anchor(self) -> str:
        """Anchor of its section on the page of the alerts."""
        return self.alert.lower()


class RecordRow(Row):
    """One recording rule."""

    record: Annotated[str, StringConstraints(pattern=r"^[a-z_]+:[a-z_]+$")]
    expression: Text
    meaning: Text
    when: Condition | None = None
    """Condition on a stack for the record to exist."""


class Theme(Row):
    """The rules of one theme."""

    theme: Annotated[str, StringConstraints(pattern=r"^[a-z-]+$")]
    alerts: tuple[AlertRow, ...] = ()
    records: tuple[RecordRow, ...] = ()


@dataclass(frozen=True)
class Alert:
    """One alert of a stack."""

    row: AlertRow
    theme: str
    expression: str
    summary: str
    pool: str | None
    """The pool that it is about, for an alert that exists once for each pool."""
    runbook: str
    """Address of its section on the page of the alerts."""
    azure: bool = True
    """True where the machines are Azure's."""

    @property
    def name(self) -> str:
        return self.row.alert

    @property
    def owner(self) -> str:
        """Person who acts. Where Azure has no part, machines are their owner's: `hardware`."""
        return "hardware" if self.row.owner == "azure" and not self.azure else self.row.owner

    @property
    def meaning(self) -> str:
        other = self.row.meaning_elsewhere
        return self.row.meaning if self.azure or other == "-" else other

    @property
    def action(self) -> str:
        return self.row.action if self.azure else alert_action(self.name, azure=False) or self.row.action


@dataclass(frozen=True)
class Record:
    """One recording rule of a stack."""

    row: RecordRow
    theme: str
    expression: str


@lru_cache(maxsize=1)
def themes() -> tuple[Theme, ...]:
    """All rows, by theme: those of a part after the core's."""
    found: dict[str, Theme] = {}
    for file in (*sorted(FILES.glob("*.yaml")), *sorted(PARTS.glob(f"*/{OF_PART}"))):
        label = file.name if file.parent == FILES else f"parts/{file.parent.name}/{OF_PART}"
        data = read_mapping(file)
        rows = data.pop("rules")
        given = [
            row(AlertRow, _with_action(each, label), f"{label}: {each['alert']}")
            if "alert" in each
            else row(RecordRow, each, f"{label}: {each}")
            for each in rows
        ]
        before = found.get(data["theme"])
        alerts = (*(before.alerts if before else ()), *(each for each in given if isinstance(each, AlertRow)))
        records = (*(before.records if before else ()), *(each for each in given if isinstance(each, RecordRow)))
        found[data["theme"]] = row(Theme, {**data, "alerts": alerts, "records": records}, label)
    names = [alert.alert for theme in found.values() for alert in theme.alerts]
    if len(set(names)) < len(names):
        raise CatalogError("data/rules: an alert is a duplicate")
    return tuple(found[name] for name in sorted(found))


def _with_action(given: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """The row of an alert with the repair of its cause, where the table of the causes has it."""
    action = alert_action(given["alert"])
    if action is None:
        return given
    if "action" in given:
        raise CatalogError(f"{file}: {given['alert']} has its action in node_causes.yaml")
    return {"commands": ADVISED_COMMANDS, "action": action, **given}


def alert_rows() -> dict[str, AlertRow]:
    """All alerts by name."""
    return {alert.alert: alert for theme in themes() for alert in theme.alerts}


def alerts(parameters: Parameters) -> tuple[Alert, ...]:
    """The alerts of a stack: without those it has switched off, and those about parts or metrics that it does not
    have.
    """
    common, there = _values(parameters), existing(parameters)
    return tuple(
        alert
        for theme in themes()
        for found in theme.alerts
        if found.alert in there
        for alert in _alerts_of(found, theme.theme, parameters, common)
    )


def existing(parameters: Parameters) -> frozenset[str]:
    """Names of the alerts of a stack. Others yield to these only."""
    return frozenset(
        name
        for name, found in alert_rows().items()
        if parameters.overrides.get(name, EMPTY).enabled
        and _exists(found.when, parameters)
        and (found.each is None or any(_applies(found.each, pool) for pool in parameters.pools))
        and _is_measured(found.expression, parameters)
    )


def records(parameters: Parameters) -> tuple[Record, ...]:
    """The recording rules of a stack."""
    common = _values(parameters)
    return tuple(
        Record(found, theme.theme, Template(found.expression).substitute(common))
        for theme in themes()
        for found in theme.records
        if _exists(found.when, parameters)
    )


def _alerts_of(found: AlertRow, theme: str, parameters: Parameters, common: Mapping[str, str]) -> Iterator[Alert]:
    common = dict(common)
    if found.threshold is not None:
        override = parameters.overrides.get(found.alert, EMPTY).threshold
        common["threshold"] = _number(found.threshold.default if override is None else override)
    runbook = f"{parameters.runbooks}{PAGE}#{found.anchor}"
    if found.each is None:
        expression = Template(found.expression).substitute(common)
        yield Alert(found, theme, expression, found.summary, None, runbook, parameters.azure)
        return
    for pool in parameters.pools:
        if _applies(found.each, pool):
            values = {**common, **_pool_values(pool)}
            expression = Template(found.expression).substitute(values)
            # A Prometheus template names labels as `$labels.node`, which are left as they are.
            summary = Template(found.summary).safe_substitute(values)
            yield Alert(found, theme, expression, summary, pool.name, runbook, parameters.azure)


def _yielded(parameters: Parameters) -> Iterator[tuple[str, str]]:
    """Values by which alerts yield to another one: `threshold_` of those with one, `told_` of all.

    Nothing reaches those of an alert that does not exist, and every value is above the `told_` of one that does.
    """
    there = existing(parameters)
    for name, each in alert_rows().items():
        yield f"told_{name}", "-Inf" if name in there else "Inf"
        if each.threshold is not None:
            own = parameters.overrides.get(name, EMPTY).threshold
            value = each.threshold.default if own is None else own
            yield f"threshold_{name}", _number(value) if name in there else "Inf"


def _exists(condition: Condition | None, parameters: Parameters) -> bool:
    pools = [pool for pool in parameters.pools if pool.resources]
    found: dict[Condition, bool] = {
        "gpu-pools": bool(pools) or any(pool.claims for pool in parameters.pools),
        "grid-pools": any(pool.grid for pool in pools),
        "amd-pools": any(pool.amd for pool in pools),
        "infiniband-pools": any(pool.infiniband for pool in parameters.pools),
        "mig-pools": any(pool.instances for pool in parameters.pools),
        "aks": parameters.azure and bool(parameters.pools),
        "quarantine": parameters.quarantines,
        "osmo": parameters.osmo_namespace is not None,
    }
    return condition is None or found[condition]


def _applies(each: Each, pool: PoolFacts) -> bool:
    if each == "claim-pool":
        return pool.claims
    return bool(pool.resources) and (each == "gpu-pool" or pool.autoscaled)


def _is_measured(expression: str, parameters: Parameters) -> bool:
    needed = {name for name in metrics(expression) if name.startswith("DCGM_")}
    return not needed or bool(needed & parameters.counters)


def _values(parameters: Parameters) -> dict[str, str]:
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
    """An expression with one series for each pool; without pools it has none.

    >>> _of_pools({"h100gpu": 7})
    '(label_replace(vector(7), "pool", "h100gpu", "", ""))'
    """
    series = (f'label_replace(vector({_number(value)}), "pool", "{name}", "", "")' for name, value in values.items())
    return f"({' or '.join(series) or 'vector(0) > 0'})"


def _resources(pools: Iterable[PoolFacts]) -> str:
    """A regular expression for the resources of these pools."""
    return any_of(sorted({metric_resource(name) for pool in pools for name in pool.resources}))


def _pool_values(pool: PoolFacts) -> Mapping[str, str]:
    return {
        "pool": pool.name,
        "resources": _resources([pool]),
        "offered": str(sum(pool.resources.values())),
        "most": str(pool.most),
        "gpus": str(pool.gpus),
    }


def _codes(xid_class: Literal["job", "node", "information"]) -> str:
    return any_of(str(code) for code in xids_of(xid_class))


def _number(value: float) -> str:
    text = f"{value:.10g}"
    if not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?", text):
        raise ValueError(f"{value} is not a number")
    return text
