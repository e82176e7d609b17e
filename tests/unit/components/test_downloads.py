"""Charts and plugins of a real deployment: nothing is used that was not compared with a recorded checksum."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import downloads
from components.config import CHARTS_VARIABLE, SIMULATED_VARIABLE, pulls_charts, with_verified_charts
from components.downloads import PullFailed, plugin_problems, pulled_charts
from components.platform.platform import Platform
from physical_ai.catalog.plugins import PROVIDERS, archive_name, pinned
from physical_ai.settings import Overlay, load
from tests.support.recording import record
from tests.support.workflow_files import script

SIMULATED, PULLED = {SIMULATED_VARIABLE: "1"}, {CHARTS_VARIABLE: "cache"}
PHYSAI = Path(sysconfig.get_path("scripts"), "physai")
PLUGIN = b"#!/bin/sh\n"


def test_a_real_deployment_installs_archives_whatever_the_source() -> None:
    for source in ("repository", "cache"):
        loaded = load("dev-westus2", [Overlay.assign([f"charts.source={source}"])])
        assert with_verified_charts(loaded, {}).settings.charts.source == "cache"
        assert with_verified_charts(loaded, SIMULATED) is loaded


def test_the_program_pulls_what_is_missing_but_not_for_a_pipeline_or_a_simulation() -> None:
    repository, cache = load("dev-westus2"), load("prod-westus2")
    assert pulls_charts(repository, {})
    assert not any((pulls_charts(repository, PULLED), pulls_charts(repository, SIMULATED), pulls_charts(cache, {})))


@pytest.fixture
def without_archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    return tmp_path


@pytest.mark.parametrize("stack", ["dev-westus2", pytest.param("onprem-lab", marks=pytest.mark.deep)])
def test_each_release_of_a_laptops_deployment_is_an_archive(stack: str, without_archives: Path) -> None:
    own = "./manifests/cluster-cleanup"
    releases = [each for each in record(stack, simulated=False).of_type("Release") if each.inputs["chart"] != own]
    assert releases
    assert all(str(each.inputs["chart"]).startswith(".charts/") for each in releases)
    assert not any("repositoryOpts" in each.inputs for each in releases)


def test_a_pull_that_fails_stops_the_deployment_before_anything_is_declared(
    monkeypatch: pytest.MonkeyPatch, without_archives: Path
) -> None:
    def fail(stack: str) -> Any:
        raise PullFailed(f"{stack}: another archive than the pinned one")

    monkeypatch.setattr(Platform, "__init__", lambda *_: pytest.fail("the platform was declared"))
    monkeypatch.setattr("workbench.mocks.recorder._none_recorded", fail)
    with pytest.raises(pulumi.RunError, match=r"(?s)charts\.source.*another archive than the pinned one"):
        record("dev-westus2", simulated=False)


def test_what_lies_there_is_compared_and_not_pulled_again(
    monkeypatch: pytest.MonkeyPatch, without_archives: Path
) -> None:
    monkeypatch.setattr("workbench.mocks.recorder._none_recorded", lambda _: pytest.fail("pulled"))
    for chart in load("dev-westus2").plan.charts:
        (without_archives / f"{chart.name}-{chart.version}.tgz").write_bytes(b"tampered with")
    with pytest.raises(pulumi.RunError, match="and should be"):
        record("dev-westus2", simulated=False)


def test_a_first_checksum_is_a_warning_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, without_archives: Path
) -> None:
    said: list[str] = []
    monkeypatch.setattr("workbench.mocks.recorder._none_recorded", lambda _: [("a-chart v1", "0" * 64)])
    monkeypatch.setattr("pulumi.log.warn", lambda text, *_, **__: said.append(text))
    record("dev-westus2", simulated=False)
    (warning,) = (each for each in said if "a-chart v1" in each)
    assert "0" * 64 in warning
    assert "commit stacks/charts.lock" in warning


def answered(monkeypatch: pytest.MonkeyPatch, code: int, out: str, err: str = "") -> list[list[str]]:
    calls: list[list[str]] = []

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(words)
        return subprocess.CompletedProcess(words, code, out, err)

    monkeypatch.setattr(downloads.subprocess, "run", run)
    return calls


def test_only_charts_that_were_recorded_now_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"name": "a", "version": "1", "sha256": "0" * 64, "outcome": outcome}
        for outcome in ("recorded", "present", "verified")
    ]
    calls = answered(monkeypatch, 0, json.dumps({"charts": rows}))
    assert pulled_charts("dev-westus2") == [("a 1", "0" * 64)]
    assert calls == [[str(PHYSAI), "charts", "pull", "dev-westus2", "--json"]]


def test_only_the_command_beside_the_program_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = answered(monkeypatch, 0, json.dumps({"charts": []}))
    monkeypatch.setenv("PATH", str(PHYSAI.parent))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(PullFailed, match=f"physai, which is not in {tmp_path}") as error:
        pulled_charts("dev-westus2")
    assert "run `physai charts pull dev-westus2` before" in str(error.value)
    assert calls == []


def test_the_commands_own_message_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, 1, "", "error: https://x has another archive of the chart a 1")
    with pytest.raises(PullFailed, match="another archive of the chart a 1"):
        pulled_charts("dev-westus2")


@pytest.mark.parametrize("out", ["", "{}", "[]", '{"charts": [{"name": "a"}]}', "no JSON"])
def test_a_garbled_list_is_a_failed_pull(monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    answered(monkeypatch, 0, out)
    with pytest.raises(PullFailed, match="printed no list of charts"):
        pulled_charts("dev-westus2")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pulumi's folder of plugins with all that are pinned, each the recorded one."""
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(downloads, "CHECKSUMS", tmp_path / "checksums.toml")
    rows = ""
    for name, pin in pinned().items():
        program = tmp_path / "plugins" / f"resource-{name}-v{pin}" / f"pulumi-resource-{name}"
        program.parent.mkdir(parents=True)
        program.write_bytes(PLUGIN)
        rows += f'[archives."{archive_name(name, pin)}"]\nprogram = "{hashlib.sha256(PLUGIN).hexdigest()}"\n'
    (tmp_path / "checksums.toml").write_text(rows)
    return tmp_path


def test_the_recorded_plugins_are_used(plugins: Path) -> None:
    assert plugin_problems() == []


def test_another_plugin_than_the_recorded_one_is_refused_with_both_checksums(plugins: Path) -> None:
    program = next(plugins.glob("plugins/resource-kubernetes-*/*"))
    program.write_bytes(b"mine")
    ((name, problem, fix),) = plugin_problems()
    assert name.startswith("pulumi-resource-kubernetes-")
    assert all(hashlib.sha256(each).hexdigest() in problem for each in (b"mine", PLUGIN))
    assert "pulumi_programs.py install" in fix


def test_a_plugin_on_the_path_precedes_the_installed_one(plugins: Path) -> None:
    ambient = plugins / "bin" / "pulumi-resource-random"
    ambient.parent.mkdir()
    ambient.write_bytes(b"mine")
    ambient.chmod(0o755)
    ((_, problem, _),) = plugin_problems()
    assert problem.startswith(str(ambient))


def test_a_plugin_without_a_recorded_checksum_is_refused(plugins: Path) -> None:
    (plugins / "checksums.toml").write_text("")
    found = plugin_problems()
    assert len(found) == len(PROVIDERS)
    assert all("pulumi_programs.py record" in fix for _, _, fix in found)


def test_a_plugin_that_is_not_installed_is_named(plugins: Path) -> None:
    next(plugins.glob("plugins/resource-azure-native-*/*")).unlink()
    ((_, problem, _),) = plugin_problems()
    assert "is not installed" in problem


def test_a_deployment_with_other_plugins_declares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Platform, "__init__", lambda *_: pytest.fail("the platform was declared"))
    monkeypatch.setattr("workbench.mocks.recorder._no_problems", lambda: [("a-plugin", "is another", "remove it")])
    with pytest.raises(pulumi.RunError, match=r"(?s)checksums\.toml: a-plugin.*is another.*remove it"):
        record("dev-westus2", simulated=False)


def test_every_package_whose_plugin_the_engine_installs_is_compared() -> None:
    """The language host reads them where the packages are (pulumi, sdk/python/cmd/pulumi-language-python)."""
    folder = Path(str(pulumi.__file__)).parents[1]
    plugins = {json.loads(file.read_text())["name"] for file in folder.glob("*/pulumi-plugin.json")}
    assert plugins == set(PROVIDERS)


def test_archives_have_the_names_that_are_recorded() -> None:
    module: Any = script("pulumi_programs")
    pins = module.versions()
    names = {each.name for each in module.archives(pins, "linux", module.machine())}
    assert {archive_name(name, pins[name]) for name in PROVIDERS} < names
    assert module.PROVIDERS == PROVIDERS
