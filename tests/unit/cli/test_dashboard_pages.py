"""Dashboards as pages: what Prometheus answers, in model time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from physical_ai.telemetry.dashboards import dashboards
from simulator.metrics.reading import Reader
from simulator.metrics.telemetry import Clock
from workbench.cli.dashboard_pages import draw, legend


class Answers(Reader):
    """A Prometheus that has one series for each query, or none."""

    def __init__(self, *, empty: bool = False) -> None:
        self.asked: list[str] = []
        self._empty = empty

    def query(self, expression: str) -> list[dict[str, Any]]:
        self.asked.append(expression)
        return [] if self._empty else [{"metric": {"node": "</script>"}, "value": [0.0, "1"]}]

    def range(self, expression: str, start: float, end: float, step: float) -> list[dict[str, Any]]:
        self.asked.append(expression)
        return [] if self._empty else [{"metric": {"node": "a"}, "values": [[end - 30, "1"], [end, "2"]]}]


def data(page: Path) -> dict[str, Any]:
    found = re.search(r"const data = (.*);", page.read_text())
    assert found is not None
    return json.loads(found[1].replace("<\\/", "</"))


def test_a_page_has_every_panel_with_minutes_of_model_time(tmp_path: Path) -> None:
    reader = Answers()
    drawn = draw(dashboards(), reader, Clock(120, 0.5), tmp_path, 60)
    assert [each.file.name for each in drawn] == [f"{each.name}.html" for each in dashboards()]
    assert [each.empty for each in drawn] == [()] * len(dashboards())
    for page, dashboard in zip(drawn, dashboards(), strict=True):
        panels = [panel for row in data(page.file)["rows"] for panel in row["panels"]]
        assert [each["title"] for each in panels] == [each.title for each in dashboard.panels()]
        line = next(each["series"][0] for each in panels if each["kind"] == "timeseries")
        assert line["x"][1] - line["x"][0] == pytest.approx(60)
        assert all(each["steps"] for each in panels if each["kind"] == "stat")
        assert "</script>" not in page.file.read_text().partition("const data")[2].partition(";\n")[0]
    assert not [each for each in reader.asked if "$pool" in each or "__range" in each or "[5m]" in each]
    assert (tmp_path / "plotly.js").stat().st_size > 1_000_000


def test_panels_without_data_are_named(tmp_path: Path) -> None:
    (_, fleet, *_) = draw(dashboards(), Answers(empty=True), Clock(120, 0.5), tmp_path, 60)
    assert "Temperature" in fleet.empty


def test_a_legend_without_text_shows_the_labels() -> None:
    assert legend("", {"__name__": "up", "node": "a"}) == "node=a"
