"""What charts render is kept for models, and only for them."""

from __future__ import annotations

from pathlib import Path

from simulator.kubernetes import RenderedCharts


def test_a_model_is_rendered_once_for_the_same_values_in_any_order(tmp_path: Path) -> None:
    charts, runs = RenderedCharts(tmp_path / "models", tmp_path / "rendered"), list[int]()

    def render() -> str:
        runs.append(1)
        return f"manifest {len(runs)}"

    model = ["template", "release", str(tmp_path / "models" / "kai-0123")]
    assert charts.rendered(model, {"a": 1, "b": 2}, render) == "manifest 1"
    assert charts.rendered(model, {"b": 2, "a": 1}, render) == "manifest 1"
    assert charts.rendered(model, {"a": 1, "b": 3}, render) == "manifest 2"
    assert charts.rendered([*model, "--no-hooks"], {"a": 1, "b": 3}, render) == "manifest 3"


def test_another_home_has_the_same_model_elsewhere(tmp_path: Path) -> None:
    manifests = ["second", "first"]
    for home in ("one", "two"):
        charts = RenderedCharts(tmp_path / home / "models", tmp_path / "rendered")
        model = ["template", "release", str(tmp_path / home / "models" / "kai-0123")]
        assert charts.rendered(model, {}, manifests.pop) == "first"


def test_another_chart_is_rendered_every_time(tmp_path: Path) -> None:
    charts, manifests = RenderedCharts(tmp_path / "models", tmp_path / "rendered"), ["second", "first"]
    arguments = ["template", "release", str(tmp_path / "pulled" / "chart.tgz")]
    assert charts.rendered(arguments, {}, manifests.pop) == "first"
    assert charts.rendered(arguments, {}, manifests.pop) == "second"
