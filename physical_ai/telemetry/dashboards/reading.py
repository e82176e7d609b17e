"""Reads the dashboards that are part of the project: JSON as Grafana imports it, in `physical_ai/telemetry/data/`.

`docs/generator/dashboards/` writes them, with Grafana's Foundation SDK, which a deployment therefore does not need.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from physical_ai.telemetry.dashboards.model import Dashboard, Panel, Query, Row, Variable

FOLDER = Path(__file__).parents[1] / "data" / "dashboards"
ORDER = ("fleet", "workflow", "osmo-workflow", "osmo-agents", "osmo-service")
"""Names of the files, in the order of the pages."""


@lru_cache(maxsize=1)
def dashboards() -> tuple[Dashboard, ...]:
    """All dashboards, in the order of the pages."""
    return tuple(read(name, (FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in ORDER)


def read(name: str, text: str) -> Dashboard:
    """A dashboard from Grafana's JSON."""
    given: Mapping[str, Any] = json.loads(text)
    variables = (each for each in given["templating"]["list"] if each["type"] == "query")
    return Dashboard(
        name=name,
        uid=given["uid"],
        title=given["title"],
        variables=tuple(Variable(each["name"], each["query"], _first(each)) for each in variables),
        rows=tuple(_rows(given["panels"])),
        document=text,
    )


def _first(variable: Mapping[str, Any]) -> str:
    value = variable["current"]["value"]
    return variable["allValue"] if value == "$__all" else value


def _rows(panels: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    title, found = "", list[Panel]()
    for each in panels:
        if each["type"] != "row":
            found.append(_panel(each))
            continue
        if found:
            yield Row(title, tuple(found))
        title, found = each["title"], []
    yield Row(title, tuple(found))


def _panel(given: Mapping[str, Any]) -> Panel:
    defaults: Mapping[str, Any] = given["fieldConfig"]["defaults"]
    custom: Mapping[str, Any] = defaults.get("custom", {})
    is_line = custom.get("thresholdsStyle", {}).get("mode") == "line"
    steps = defaults.get("thresholds", {}).get("steps", ()) if is_line else ()
    return Panel(
        title=given["title"],
        queries=tuple(Query(each["expr"], each.get("legendFormat", "")) for each in given["targets"]),
        unit=defaults["unit"],
        kind=given["type"],
        text=given.get("description", ""),
        width=given["gridPos"]["w"],
        target=next((each["value"] for each in steps if each["value"] is not None), None),
        stacked=custom.get("stacking", {}).get("mode") == "normal",
    )
