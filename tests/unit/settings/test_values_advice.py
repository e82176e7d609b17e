"""Advice about values: none of it is refused in turn."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog.charts import keys_file
from physical_ai.catalog.compat.needs import about, need_against
from physical_ai.catalog.compat.tables import choices, switches
from physical_ai.catalog.gpu_load import chart_key_notes
from physical_ai.catalog.reading import read_rows
from physical_ai.settings import Fault
from tests.support.cases import in_one_test
from tests.support.examples import examples
from tests.support.judged_values import CHARTS, errors, judged, known, nested


def notes(chart: str) -> list[str]:
    found = chart_key_notes() if chart == "gpu-operator" else ()
    rows = [path for note in found for path in note.paths]
    file = keys_file(chart).with_name(f"{chart}-notes.yaml")
    rows += [path for row in read_rows(file) for path in row["paths"]] if file.exists() else []
    return [path for path in rows if "*" not in path]


def advised(fault: Fault) -> list[str]:
    """The keys that a fault says to write."""
    text = fault.fix or ""
    found = re.findall(r"Write (\S+)(?: and (\S+))? instead", text) + re.findall(r"Did you mean (\S+?)\?()", text)
    return [key for pair in found for key in pair if key]


def good(chart: str, path: str) -> Any:
    """A value that a key may have."""
    if kept := next((need.keep[0] for need in about(chart, path) if need.keep), None):
        return kept
    if path in switches(chart):
        return need_against(chart, path, True) is None
    kind = known(chart).get(path)
    if kind is None:
        return {}
    limited = choices(chart).get(path) if chart != "gpu-operator" else None
    least = next((need.least for need in about(chart, path) if need.least is not None), None)
    return {"list": [], "map": {}}.get(kind, limited[0] if limited else least or "single")


@in_one_test("chart", CHARTS)
def test_no_advice_about_a_dead_key_is_refused_in_turn(chart: str) -> None:
    for path in notes(chart):
        for fault in judged(chart, nested(path, good(chart, path))):
            for key in advised(fault):
                found = [each for each in errors(chart, key, good(chart, key)) if each.rule != "chart-value"]
                assert found == [], (path, key)


def test_the_two_refused_in_turn_name_the_setting_at_once() -> None:
    (fault,) = errors("gpu-operator", "toolkit.tolerations", [])
    assert "Set pools.<pool>.taints instead." in (fault.fix or "")
    (fault,) = errors("gpu-operator", "driver.useOpenKernelModules", True)
    assert "gpuOperator.driver.moduleType" in (fault.fix or "")


mistyped = st.sampled_from([str.lower, str.capitalize, str.upper, lambda key: f"{key}s", lambda key: key[:-1]])


@examples(200)
@given(
    st.sampled_from(CHARTS).flatmap(lambda chart: st.tuples(st.just(chart), st.sampled_from(sorted(known(chart))))),
    mistyped,
)
def test_no_advice_about_a_mistyped_key_is_refused_in_turn(of_chart: tuple[str, str], wrong: Any) -> None:
    chart, path = of_chart
    section, _, leaf = path.rpartition(".")
    mistake = f"{section}.{wrong(leaf)}" if section else wrong(leaf)
    for fault in judged(chart, nested(mistake, False)) if wrong(leaf) else []:
        for key in advised(fault):
            assert [each for each in errors(chart, key, good(chart, key)) if each.rule != "chart-value"] == [], (
                path,
                key,
            )


def test_a_mistyped_switch_is_told_what_the_right_one_would_be_told() -> None:
    (fault,) = errors("gpu-operator", "toolkit.Enabled", False)
    assert "Did you mean" not in (fault.fix or "")
    assert "toolkit.enabled" in (fault.fix or "")
