"""Reading of the project's dashboards: JSON as Grafana imports it, in `physical_ai/telemetry/data/`.

`docs/generator/dashboards/` writes these files with Grafana's Foundation SDK, so a deployment does not need the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from physical_ai.telemetry.dashboards.model import Dashboard, Link, Panel, Query, Row, Threshold, Variable

FOLDER = Path(__file__).parents[1] / "data" / "dashboards"
ORDER = ("status", "fleet", "workflow", "osmo-workflow", "osmo-agents", "osmo-service")
"""Names of the dashboards' files, in the order in which dashboards are listed."""


@lru_cache(maxsize=1)
def dashboards() -> tuple[Dashboard, ...]:
    """All dashboards, in the order of `ORDER`."""
    return tuple(read(name, (FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in ORDER)


def read(name: str, text: str) -> Dashboard:
    """A dashboard parsed from Grafana's JSON."""
    document: Mapping[str, Any] = json.loads(text)
    variables = (each for each in document["templating"]["list"] if each["type"] == "query")
    return Dashboard(
        name=name,
        uid=document["uid"],
        title=document["title"],
        variables=tuple(Variable(each["name"], each["query"], _first(each)) for each in variables),
        rows=tuple(_rows(document["panels"])),
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


def _colors(overrides: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for each in overrides:
        for named in each["properties"]:
            if named["id"] == "color":
                yield each["matcher"]["options"], named["value"]["fixedColor"]


def _links(overrides: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in overrides:
        for named in each["properties"]:
            if named["id"] == "links":
                yield from (link["url"] for link in named["value"])


def _panel(given: Mapping[str, Any]) -> Panel:
    defaults: Mapping[str, Any] = given["fieldConfig"]["defaults"]
    custom: Mapping[str, Any] = defaults.get("custom", {})
    counts = given["type"] == "stat" or custom.get("thresholdsStyle", {}).get("mode") == "line"
    steps = defaults.get("thresholds", {}).get("steps", ()) if counts else ()
    return Panel(
        title=given["title"],
        queries=tuple(Query(each["expr"], each.get("legendFormat", "")) for each in given["targets"]),
        unit=defaults["unit"],
        kind=given["type"],
        text=given.get("description", ""),
        width=given["gridPos"]["w"],
        steps=tuple(Threshold(each["value"], each["color"]) for each in steps),
        links=tuple(Link(each["title"], each["url"]) for each in given.get("links") or ()),
        colors=dict(_colors(given["fieldConfig"].get("overrides", ()))),
        runbook=next(_links(given["fieldConfig"].get("overrides", ())), ""),
        stacked=custom.get("stacking", {}).get("mode") == "normal",
    )
