"""Alerts and recording rules of one stack, made from the definitions in `data/rules/` and in parts.

A definition refers to values of the stack as `$pool`; `$$` is a dollar sign. Values are filled into expressions, and,
for a rule that exists once per pool, into summary and meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template

from physical_ai.catalog.node_causes import alert_action
from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.rule_conditions import EMPTY, applies, existing, exists
from physical_ai.telemetry.rule_rows import AlertRow, RecordRow, themes
from physical_ai.telemetry.rule_values import number, pool_values, values

PAGE = "alerts.md"


@dataclass(frozen=True)
class Alert:
    """One alert of a stack."""

    row: AlertRow
    theme: str
    expression: str
    summary: str
    pool: str | None
    """Pool that the alert is about; None unless each pool has its own copy of the alert."""
    runbook: str
    """Address of the alert's section on the page about alerts."""
    azure: bool = True
    """True where the machines are Azure's."""

    @property
    def name(self) -> str:
        return self.row.alert

    @property
    def owner(self) -> str:
        """Owner of the alert, who has to act: `platform`, `job` or `azure`. On an existing cluster, `hardware` replaces
        `azure`.
        """
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


def alerts(parameters: Parameters) -> tuple[Alert, ...]:
    """Alerts of a stack. An alert is left out if the settings switch it off, or if the stack lacks the software or
    metrics that the alert needs.
    """
    common, there = values(parameters), existing(parameters)
    return tuple(
        alert
        for theme in themes()
        for found in theme.alerts
        if found.alert in there
        for alert in _alerts_of(found, theme.theme, parameters, common)
    )


def records(parameters: Parameters) -> tuple[Record, ...]:
    """The recording rules of a stack."""
    common = values(parameters)
    return tuple(
        Record(found, theme.theme, Template(found.expression).substitute(common))
        for theme in themes()
        for found in theme.records
        if exists(found.when, parameters)
    )


def _alerts_of(found: AlertRow, theme: str, parameters: Parameters, common: Mapping[str, str]) -> Iterator[Alert]:
    common = dict(common)
    if found.threshold is not None:
        override = parameters.overrides.get(found.alert, EMPTY).threshold
        common["threshold"] = number(found.threshold.default if override is None else override)
    runbook = f"{parameters.runbooks}{PAGE}#{found.anchor}"
    if found.each is None:
        expression = Template(found.expression).substitute(common)
        yield Alert(found, theme, expression, found.summary, None, runbook, parameters.azure)
        return
    for pool in parameters.pools:
        if applies(found.each, pool):
            own = {**common, **pool_values(pool)}
            expression = Template(found.expression).substitute(own)
            # A Prometheus template refers to labels as `$labels.node`, which must stay unchanged.
            summary = Template(found.summary).safe_substitute(own)
            yield Alert(found, theme, expression, summary, pool.name, runbook, parameters.azure)
