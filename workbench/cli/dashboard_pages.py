"""Dashboards as pages for a browser: each panel's queries are answered by the Prometheus of a simulated stack."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from physical_ai.telemetry.dashboards import Dashboard, Panel, Query
from simulator.cluster.objects import Json
from simulator.metrics import speed
from simulator.metrics.reading import Reader
from simulator.metrics.telemetry import Clock

PAGE = Path(__file__).parent / "output" / "dashboard.html"
SCRIPT = "plotly.js"
POINTS = 240
"""Largest number of points in one series."""


@dataclass(frozen=True)
class Drawn:
    """Result of drawing a dashboard: the written page, and the titles of its panels without data."""

    file: Path
    empty: tuple[str, ...]


def draw(
    dashboards: Iterable[Dashboard], reader: Reader, clock: Clock, folder: Path, model_minutes: float
) -> list[Drawn]:
    """Writes a page for each dashboard, with the last `model_minutes` of simulated time, and one script for
    all pages.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = resources.files("plotly") / "package_data" / "plotly.min.js"
    (folder / SCRIPT).write_bytes(script.read_bytes())
    return [_draw(each, reader, clock, folder, model_minutes) for each in dashboards]


@dataclass(frozen=True)
class _Source:
    """A dashboard, and the Prometheus that answers its queries."""

    dashboard: Dashboard
    reader: Reader
    clock: Clock
    model_minutes: float

    def panel(self, panel: Panel) -> Json:
        shown = {name: getattr(panel, name) for name in ("title", "kind", "unit", "text", "width", "stacked")}
        shown |= {"steps": [asdict(each) for each in panel.steps], "links": [asdict(each) for each in panel.links]}
        shown |= {"runbook": panel.runbook, "colors": dict(panel.colors)}
        return {**shown, "series": [line for query in panel.queries for line in self._lines(panel, query)]}

    def _lines(self, panel: Panel, query: Query) -> list[Json]:
        span = f"{round(self.model_minutes)}m"
        expression = speed.expression(self.dashboard.filled(query, span=span), self.clock.factor)
        now = time.time()
        if panel.kind != "timeseries":
            found = self.reader.query(expression)
            return [_line(query, each["metric"], [each["value"]], self.clock, now) for each in found]
        seconds = self.model_minutes * 60 / self.clock.factor
        found = self.reader.range(expression, now - seconds, now, max(seconds / POINTS, self.clock.interval))
        return [_line(query, each["metric"], each["values"], self.clock, now) for each in found]


def _draw(dashboard: Dashboard, reader: Reader, clock: Clock, folder: Path, model_minutes: float) -> Drawn:
    source = _Source(dashboard, reader, clock, model_minutes)
    panels = {each.title: source.panel(each) for each in dashboard.panels()}
    rows = [{"title": row.title, "panels": [panels[each.title] for each in row.panels]} for row in dashboard.rows]
    file = folder / f"{dashboard.name}.html"
    document = {"title": dashboard.title, "rows": rows}
    # A tag that ends the script must not be part of the data.
    data = json.dumps(document).replace("</", "<\\/")
    file.write_text(Template(PAGE.read_text(encoding="utf-8")).substitute(data=data, script=SCRIPT), encoding="utf-8")
    return Drawn(file, tuple(title for title, panel in panels.items() if not panel["series"]))


def _line(query: Query, labels: Mapping[str, str], values: Sequence[Sequence[Any]], clock: Clock, now: float) -> Json:
    """One series of a panel as data. `x` has the time of each value in simulated minutes relative to `now`, so past
    values are negative.
    """
    return {
        "name": legend(query.legend, labels),
        "labels": dict(labels),
        "x": [round((float(moment) - now) * clock.factor / 60, 2) for moment, _ in values],
        "y": [float(value) for _, value in values],
    }


def legend(text: str, labels: Mapping[str, str]) -> str:
    """A series' legend with its labels filled in, as Grafana does it.

    >>> legend("{{node}} ready", {"node": "a"})
    'a ready'
    """
    if not text:
        return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()) if key != "__name__")
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), text).strip()
