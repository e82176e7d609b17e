"""Commands that need no simulator: what they print, and how they answer wrong input."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings import load
from simulator.home import HOME_VARIABLE
from workbench.cli.main import run
from workbench.cli.requested_stack import merge, read_stack


def call(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("command", ["up", "preview", "explain"])
def test_wrong_settings_end_in_code_2_with_every_fault_and_nothing_made(command: str, home: Path) -> None:
    wrong = ("--set", "pools.h100gpu.skuu=x", "--set", "network.podCidr=10.40.0.0/16")
    code, out, err = call(command, "dev-westus2", *wrong)
    assert (code, out) == (2, "")
    assert "Did you mean 'sku'?" in err
    assert "overlap" in err
    assert "2 errors; nothing was changed" in err
    assert "Traceback" not in err
    assert not home.exists()


def test_with_json_a_failure_is_a_document_too() -> None:
    code, out, err = call("explain", "dev-westus2", "--json", "--set", "pools.h100gpu.skuu=x")
    error = json.loads(out)["error"]
    (fault,) = error["faults"]
    assert (code, error["exitCode"]) == (2, 2)
    assert (fault["path"], fault["fix"]) == ("pools.h100gpu.skuu", "Did you mean 'sku'?")
    assert error["text"] in err


@pytest.mark.parametrize("command", ["up", "preview", "down", "status", "env", "explain"])
def test_a_stack_name_without_a_region_is_wrong_input_everywhere(command: str) -> None:
    code, _, err = call(command, "dev")
    assert code == 2
    assert "names no region" in err


def test_a_wrong_option_is_wrong_input() -> None:
    assert call("up", "--no-such-option")[0] == 2


def test_explain_shows_how_many_nodes_leave_service_by_themselves() -> None:
    acts = ("--set", "monitoring.metrics=azure", "--set", "health.mode=taint", "--set", "health.datastoreSecret=store")
    _, out, _ = call("explain", "dev-westus2", "health", *acts)
    assert "nodes cordoned automatically: h100gpu at most 1 at a time" in out
    assert "nodes cordoned automatically: rtxprogpu none" in out
    _, out, _ = call("explain", "dev-westus2", "health")
    assert "nodes cordoned automatically: h100gpu none" in out


def test_explain_shows_the_series_that_metrics_cost() -> None:
    _, out, _ = call("explain", "dev-westus2", "monitoring", "--set", "monitoring.metrics=azure")
    assert "series of GPUs: h100gpu 55 for each GPU, 55 a node, at most 110\n" in out
    assert "series of GPUs: rtxprogpu 7 to 45 for each GPU, 7 to 45 a node, at most 90\n" in out
    _, out, _ = call("explain", "dev-westus2", "monitoring")
    assert "series of GPUs" not in out


def test_explain_shows_value_and_origin() -> None:
    code, out, _ = call("explain", "dev-westus2", "pools.h100gpu", "--json", "--set", "pools.h100gpu.scale.max=5")
    rows = {row["path"]: row for row in json.loads(out)["settings"]}
    assert code == 0
    assert rows["pools.h100gpu.scale.max"] == {"path": "pools.h100gpu.scale.max", "value": 5, "origin": "--set"}
    assert rows["pools.h100gpu.priority"]["origin"] == "stacks/layers/env/dev.yaml"


def test_sizes_of_a_region_have_prices_and_leave_out_what_it_lacks() -> None:
    rows = {row["name"]: row for row in json.loads(call("sizes", "--region", "westus2", "--json")[1])["sizes"]}
    assert rows["Standard_NC40ads_H100_v5"]["usdPerHour"] == 6.98
    every = {row["name"] for row in json.loads(call("sizes", "--json")[1])["sizes"]}
    assert set(rows) < every


def test_an_unknown_region_is_answered_with_the_nearest() -> None:
    code, _, err = call("sizes", "--region", "westus22")
    assert code == 2
    assert "westus2" in err


def test_regions_name_their_gpu_sizes() -> None:
    rows = {row["name"]: row for row in json.loads(call("regions", "--json")[1])["regions"]}
    assert "Standard_NC144ds_xl_RTXPRO6000BSE_v6" in rows["westus2"]["gpuSizes"]


def test_status_and_down_of_a_stack_that_is_not_simulated_are_no_errors() -> None:
    code, out, _ = call("status", "--json")
    assert (code, json.loads(out)["exists"]) == (0, False)
    assert call("down")[0] == 0


@pytest.mark.parametrize("command", ["down", "status", "env"])
def test_an_unknown_stack_is_wrong_input(command: str) -> None:
    code, _, err = call(command, "dev-nowhere")
    assert code == 2
    assert "no such stack file" in err


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (["pools.h100gpu"], "dev-westus2 pools.h100gpu"),
        (["physical-ai:pools"], "dev-westus2 pools"),
        (["h100gpu", "dev-southeastasia"], "dev-southeastasia h100gpu"),
    ],
)
def test_explain_of_a_setting_without_its_stack_says_so(arguments: list[str], written: str) -> None:
    code, _, err = call("explain", *arguments)
    assert code == 2
    assert f"Write: physai explain {written}\n" in err


def test_env_of_a_stack_that_is_not_simulated_fails_and_names_the_command_to_create_it() -> None:
    code, out, err = call("env")
    assert (code, out) == (1, "")
    assert "physai up" in err


def test_an_overlays_null_reaches_the_program_which_has_layers_below() -> None:
    given = read_stack("dev-westus2", [], ["pools.h100gpu.scale={count: 3, min: null, max: null, initial: null}"])
    scale = given.input.config["physical-ai:pools"]["h100gpu"]["scale"]
    assert scale == {"count": 3, "min": None, "max": None, "initial": None}


def test_overlays_merge_maps_and_replace_the_rest() -> None:
    base: dict[str, Any] = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert merge(base, {"a": {"c": [3]}, "d": {"e": 2}}) == {"a": {"b": 1, "c": [3]}, "d": {"e": 2}}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


@pytest.mark.parametrize("command", ["up", "preview", "explain", "compat"])
def test_a_mistake_in_a_values_file_is_wrong_input_to_every_command(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    file = tmp_path / "values" / "gpu-operator" / "values.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("driver:\n  tolerations: []\n")
    for module in ("workbench.cli.requested_stack", "physical_ai.settings"):
        monkeypatch.setattr(f"{module}.load", partial(load, values=tmp_path / "values"))
    code, out, err = call(command, "dev-westus2")
    assert (code, out) == (2, "")
    assert "values/gpu-operator/values.yaml" in err
    assert "driver.tolerations" in err
    assert not home.exists()
