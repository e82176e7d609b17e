"""The choice of the Kubernetes plugin: where the official one is looked for, and that the first `up` decides."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from simulator.kubernetes_plugin import (
    COMMAND,
    FOLDER,
    PATH_VARIABLE,
    STAND_IN,
    Plugin,
    PluginUnusable,
    chosen,
    installed,
    local_chart,
    record,
)
from simulator.program_environment import OFFICIAL_VARIABLE


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    return path


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine without the plugin."""
    return {"PULUMI_HOME": str(tmp_path / "pulumi")}


def test_the_plugin_is_found_in_pulumis_folder_and_at_a_given_path(tmp_path: Path, nowhere: dict[str, str]) -> None:
    assert installed(nowhere) is None
    usual = program(tmp_path / "pulumi" / "plugins" / FOLDER / COMMAND)
    assert installed(nowhere) == usual
    given = program(tmp_path / "own")
    assert installed({**nowhere, PATH_VARIABLE: str(given)}) == given


def test_a_path_that_is_no_program_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(PluginUnusable, match="is not a program"):
            installed({PATH_VARIABLE: str(path)})


def test_without_a_choice_the_stand_in_runs_and_a_missing_plugin_is_named(
    tmp_path: Path, nowhere: dict[str, str]
) -> None:
    assert chosen(tmp_path, None, nowhere) is STAND_IN
    with pytest.raises(PluginUnusable, match="pulumi plugin install resource kubernetes"):
        chosen(tmp_path, "official", nowhere)


def test_the_first_up_decides_and_the_other_plugin_is_refused_after_it(tmp_path: Path, nowhere: dict[str, str]) -> None:
    own = program(tmp_path / "own")
    environment = {**nowhere, PATH_VARIABLE: str(own)}
    folder = tmp_path / "simulation"
    record(folder, chosen(folder, "official", environment))
    assert chosen(folder, None, environment) == Plugin("official", own)
    with pytest.raises(PluginUnusable, match="was deployed with the plugin 'official'"):
        chosen(folder, "stand-in", environment)
    record(folder, STAND_IN)
    with pytest.raises(PluginUnusable, match="was deployed with the plugin 'stand-in'"):
        chosen(folder, "official", environment)


def test_the_plugin_gets_a_link_and_nothing_of_the_users_clusters_and_charts(tmp_path: Path) -> None:
    official = Plugin("official", program(tmp_path / "own"))
    official.link(tmp_path / "home")
    official.link(tmp_path / "home")
    assert (tmp_path / "home" / "plugins" / FOLDER / COMMAND).resolve() == official.path
    variables = official.environment(tmp_path)
    assert (variables["KUBECONFIG"], variables[OFFICIAL_VARIABLE]) == ("", "1")
    assert variables["HELM_CACHE_HOME"] == str(tmp_path / "helm" / "cache")
    assert STAND_IN.environment(tmp_path) == {}


def test_a_release_gets_a_local_chart_and_keeps_its_version(tmp_path: Path) -> None:
    asked: list[tuple[str, str, str]] = []

    def source(*chart: str) -> Path:
        asked.append((chart[0], chart[1], chart[2]))
        return tmp_path / "chart"

    repository = SimpleNamespace(repo="https://charts.example")
    given = {"chart": "gpu-operator", "version": "v1", "repository_opts": repository, "name": "gpu"}
    assert local_chart(given, source) == {"chart": str(tmp_path / "chart"), "version": "v1", "name": "gpu"}
    assert local_chart({"chart": "oci://charts.example/kai"}, source) == {"chart": str(tmp_path / "chart")}
    assert asked == [("gpu-operator", "v1", "https://charts.example"), ("oci://charts.example/kai", "", "")]
