"""Files of chart values: a fault in any of them is reported while loading, before anything is declared."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pulumi
import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.nested import at
from physical_ai.repository import VALUES
from physical_ai.settings import SettingsError, load, load_config
from tests.support.recording import record
from workbench.mocks.recorder import Recorder


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the values, from which the program reads."""
    copy = Path(shutil.copytree(VALUES, tmp_path / "values"))
    monkeypatch.setattr("components.config.load_config", partial(load_config, values=copy))
    return copy


def add(path: Path, text: str) -> str:
    """Adds a line to a file of values, and returns its place as messages name it."""
    lines = path.read_text().rstrip().split("\n") if path.exists() else []
    path.write_text("\n".join([*lines, text, ""]))
    return f"values/{path.relative_to(path.parents[1])}:{len(lines) + 1}"


FILES = (
    "gpu-operator/values.yaml",
    "gpu-operator/nvidia-driver.yaml",
    "kai-scheduler/values.yaml",
    "osmo/backend-operator.yaml",
)


@pytest.mark.parametrize("file", FILES)
def test_an_unknown_key_in_the_values_of_any_chart_is_refused_before_anything_is_declared(
    file: str, values: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = add(values / file, "nosuchkey: 1")
    declared: list[str] = []
    register = Recorder.RegisterResource
    monkeypatch.setattr(Recorder, "RegisterResource", lambda *of: [declared.append(of[1].type), register(*of)][1])
    with pytest.raises(pulumi.RunError) as stopped:
        record("dev-westus2")
    assert str(stopped.value).startswith(f"{place}: nosuchkey\n")
    assert declared == ["pulumi:pulumi:Stack"]
    with pytest.raises(SettingsError) as refused:
        load("dev-westus2", values=values)
    assert str(refused.value) == str(stopped.value)


def test_faults_in_the_values_of_several_charts_are_reported_together(values: Path) -> None:
    places = [add(values / file, "nosuchkey: 1") for file in FILES]
    with pytest.raises(SettingsError) as refused:
        load("dev-westus2", values=values)
    assert [f"{fault.file}:{fault.line}" for fault in refused.value.faults] == places


@pytest.mark.parametrize("file", FILES)
def test_a_values_file_that_is_not_yaml_is_refused_while_loading(file: str, values: Path) -> None:
    (values / file).write_text("a: }")
    with pytest.raises(SettingsError, match=f"values/{file}:1: "):
        load("dev-westus2", values=values)


def test_warnings_about_the_values_of_any_chart_are_shown(values: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Finding(Severity.WARNING, "chart-key-renamed", "old", "An old name.", "Write new.", "docs")
    monkeypatch.setattr("physical_ai.planning.chart_values.check_chart", lambda *_: [finding])
    places = [add(values / file, "old: 1") for file in FILES[2:]]
    shown = [fault for fault in load("dev-westus2", values=values).warnings if fault.rule == finding.rule]
    assert [f"{fault.file}:{fault.line}" for fault in shown] == places


def test_a_key_that_no_file_sets_is_the_fault_of_the_module_that_sets_it(
    values: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding(Severity.ERROR, "chart-key-unknown", "global.nodeSelector", "No key.", "Leave it out.", "docs")
    monkeypatch.setattr(
        "physical_ai.planning.chart_values.check_chart",
        lambda _name, _version, given, _refused: [finding] if at(given, finding.where) else [],
    )
    with pytest.raises(SettingsError) as refused:
        load("dev-westus2", values=values)
    assert {fault.file for fault in refused.value.faults} == {"physical_ai/planning/osmo.py"}
