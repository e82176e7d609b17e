"""Dashboards as the JSON that Grafana imports (schema version 39)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from physical_ai.telemetry.dashboards.model import Dashboard, Panel, Row, Variable

SCHEMA = 39
HEIGHT = 8
COLUMNS = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""A variable of the dashboard: the id of the data source differs between instances."""


def document(dashboard: Dashboard) -> str:
    """The JSON of a dashboard."""
    return json.dumps(_dashboard(dashboard), indent=1, ensure_ascii=False) + "\n"


def _dashboard(dashboard: Dashboard) -> dict[str, Any]:
    choice = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"}
    return {
        "uid": f"physical-ai-{dashboard.name}",
        "title": dashboard.title,
        "tags": ["physical-ai"],
        "schemaVersion": SCHEMA,
        "editable": False,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": [choice, *(_variable(each) for each in dashboard.variables)]},
        "panels": list(_panels(dashboard.rows)),
    }


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "type": "query",
        "datasource": SOURCE,
        "query": f"label_values({variable.series}, {variable.label})",
        "regex": f"/^{variable.pattern}$/" if variable.pattern else "",
        "includeAll": True,
        "allValue": ".+",
        "multi": True,
        "refresh": 2,
        "current": {"text": "All", "value": "$__all"},
    }


def _panels(rows: tuple[Row, ...]) -> Iterator[dict[str, Any]]:
    number, top = 0, 0
    for row in rows:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "panels": [],
            "gridPos": _at(0, top, COLUMNS, 1),
        }
        top, left = top + 1, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left = top + HEIGHT, 0
            number += 1
            yield {"id": number, **_panel(panel), "gridPos": _at(left, top, panel.width, HEIGHT)}
            left += panel.width
        top += HEIGHT


def _at(left: int, top: int, width: int, height: int) -> dict[str, int]:
    return {"x": left, "y": top, "w": width, "h": height}


def _panel(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "blue", "value": None}]
    custom: dict[str, Any] = {}
    if panel.target is not None:
        steps.append({"color": "green", "value": panel.target})
        custom = {"thresholdsStyle": {"mode": "line"}}
    is_table = panel.kind == "table"
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": SOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "custom": custom, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": SOURCE,
                # `$$` is our dollar sign; Grafana leaves `$1` as it is.
                "expr": query.expression.replace("$$", "$"),
                "legendFormat": query.legend,
                "instant": is_table,
                "range": not is_table,
                "format": "table" if is_table else "time_series",
            }
            for index, query in enumerate(panel.queries)
        ],
        **({"transformations": [{"id": "merge", "options": {}}]} if is_table else {}),
    }
