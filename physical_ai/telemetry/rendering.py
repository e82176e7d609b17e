"""Rules of a stack in the forms of Prometheus, kube-prometheus and Azure. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.rule_rows import Severity
from physical_ai.telemetry.rules import Alert, Record, alerts, records

AZURE_SEVERITY = {"critical": 0, "warning": 2, "info": 3}
"""Azure's number of each severity. Azure has 0 critical, 1 error, 2 warning, 3 informational, 4 verbose."""
AZURE_RULES_OF_GROUP = 20
"""Maximum number of rules in one Prometheus rule group of Azure (Azure Monitor service limits)."""
INTERVAL_SECONDS = 60
"""Seconds between two evaluations of a rule group. Azure accepts 1 to 15 minutes."""


def rule_groups(parameters: Parameters) -> dict[str, list[dict[str, Any]]]:
    """Rules in Prometheus' form, by theme; themes without rules are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for item in (*records(parameters), *alerts(parameters)):
        rendered = _record(item) if isinstance(item, Record) else _alert(item)
        found.setdefault(item.theme, []).append(rendered)
    return found


def rule_file(parameters: Parameters, interval_seconds: int = INTERVAL_SECONDS) -> str:
    """Text of a rule file for Prometheus and `promtool check rules`."""
    return yaml.safe_dump({"groups": _groups(parameters, interval_seconds)}, sort_keys=False, width=1000)


def prometheus_rule(
    parameters: Parameters,
    name: str,
    namespace: str,
    labels: Mapping[str, str] | None = None,
    interval_seconds: int = INTERVAL_SECONDS,
) -> dict[str, Any]:
    """Manifest of a PrometheusRule of `monitoring.coreos.com`."""
    named: dict[str, Any] = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        # The API server drops empty labels, so Pulumi would add them again in every run.
        "metadata": {**named, "labels": dict(labels)} if labels else named,
        "spec": {"groups": _groups(parameters, interval_seconds)},
    }


def azure_rule_groups(
    parameters: Parameters, action_groups: Mapping[Severity, Sequence[Any]] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Rules by group, in the form of `properties.rules` of Azure's PrometheusRuleGroup.

    Azure has no `keep_firing_for`, takes durations as ISO 8601 and severities as numbers, and limits the rules of a
    group, so that a theme can become several groups.

    Args:
        action_groups: Ids of the action groups to notify, by severity.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for theme, items in _by_theme(parameters).items():
        rendered = [
            _azure_record(item)
            if isinstance(item, Record)
            else _azure_alert(item, (action_groups or {}).get(item.row.severity, ()))
            for item in items
        ]
        for number, start in enumerate(range(0, len(rendered), AZURE_RULES_OF_GROUP), 1):
            name = theme if number == 1 else f"{theme}-{number}"
            found[name] = rendered[start : start + AZURE_RULES_OF_GROUP]
    return found


def iso_minutes(minutes: int) -> str:
    """Duration of `minutes` minutes in the form of ISO 8601.

    >>> iso_minutes(20)
    'PT20M'
    """
    return f"PT{minutes}M"


def _by_theme(parameters: Parameters) -> dict[str, list[Alert | Record]]:
    found: dict[str, list[Alert | Record]] = {}
    for item in (*records(parameters), *alerts(parameters)):
        found.setdefault(item.theme, []).append(item)
    return found


def _groups(parameters: Parameters, interval_seconds: int) -> list[dict[str, Any]]:
    return [
        {"name": theme, "interval": f"{interval_seconds}s", "rules": rules}
        for theme, rules in rule_groups(parameters).items()
    ]


def _record(item: Record) -> dict[str, Any]:
    return {"record": item.row.record, "expr": item.expression}


def _alert(item: Alert) -> dict[str, Any]:
    found: dict[str, Any] = {"alert": item.name, "expr": item.expression}
    if item.row.hold_minutes:
        found["for"] = f"{item.row.hold_minutes}m"
    return {**found, "labels": _labels(item), "annotations": _annotations(item)}


def _azure_record(item: Record) -> dict[str, Any]:
    return {"record": item.row.record, "expression": item.expression, "enabled": True}


def _azure_alert(item: Alert, action_groups: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "alert": item.name,
        "expression": item.expression,
        "enabled": True,
        "for": iso_minutes(item.row.hold_minutes),
        "severity": AZURE_SEVERITY[item.row.severity],
        "labels": _labels(item),
        "annotations": _annotations(item),
        "resolveConfiguration": {"autoResolved": True, "timeToResolve": iso_minutes(10)},
    }
    if action_groups:
        found["actions"] = [{"actionGroupId": each} for each in action_groups]
    return found


def _labels(item: Alert) -> dict[str, str]:
    return dict(_label_pairs(item))


def _label_pairs(item: Alert) -> Iterator[tuple[str, str]]:
    yield "severity", item.row.severity
    yield "owner", item.owner
    yield "theme", item.theme
    if item.pool is not None:
        yield "pool", item.pool


def _annotations(item: Alert) -> dict[str, str]:
    return {
        "summary": item.summary,
        "description": item.meaning,
        "action": item.action,
        "runbook_url": item.runbook,
    }
