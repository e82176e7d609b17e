"""Stacks side by side: what each file sets over its layers, and how two stacks differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from physical_ai import settings
from physical_ai.catalog import newest_release
from physical_ai.settings import Overlay, existing, load
from physical_ai.settings.compare import Own, differences, own_settings
from tests.unit.cli.test_cli_commands import call


def test_a_stacks_own_settings_are_those_of_its_file_beside_the_layers_values() -> None:
    own = {each.path: each for each in own_settings(load("prod-westus2"))}
    assert own["pools.h100gpu.scale.max"] == Own("pools.h100gpu.scale.max", 8, 4)
    assert own["network.addressSpace"].below is None
    assert "pools.h100gpu.sku" not in own


def test_what_a_stack_file_removes_is_shown_as_removed() -> None:
    own = {each.path: each for each in own_settings(load("prod-southeastasia"))}
    assert own["pools.h100gpu.scale.min"] == Own("pools.h100gpu.scale.min", None, 1)


def test_an_overlay_is_no_setting_of_the_stack_file() -> None:
    laid_over = load("dev-westus2", [Overlay.assign(["protect=true"])])
    assert own_settings(laid_over) == own_settings(load("dev-westus2"))


def test_two_stacks_differ_in_values_with_their_origins() -> None:
    found = {each.path: each for each in differences(load("dev-westus2"), load("prod-westus2"))}
    scale = found["pools.h100gpu.scale.max"]
    assert scale.a is not None
    assert scale.b is not None
    assert (scale.a.value, scale.a.origin) == (2, "stacks/layers/env/dev.yaml")
    assert (scale.b.value, scale.b.origin) == (8, "stacks/Pulumi.prod-westus2.yaml")
    assert "cluster.kubernetesVersion" not in found
    assert not {"environment", "region"} & set(found)


def test_a_pool_that_one_stack_lacks_shows_what_its_files_set() -> None:
    found = {each.path: each for each in differences(load("prod-westus2"), load("prod-swedencentral"))}
    assert found["pools.rtxprogpu.sku"].b is None
    assert found["pools.a10gpu.sku"].a is None
    assert "pools.a10gpu.secureBoot" not in found


def test_a_stack_differs_from_itself_in_nothing() -> None:
    assert differences(load("dev-westus2"), load("dev-westus2")) == []


def test_promoting_is_a_diff_that_gets_empty() -> None:
    dev, staging = load("dev-westus2"), load("staging-westus2")
    (each,) = [item for item in differences(dev, staging) if item.path == "pools.h100gpu.priority"]
    assert each.b is not None
    promoted = load("dev-westus2", [Overlay.assign([f"{each.path}={each.b.value}"])])
    assert each.path not in {item.path for item in differences(promoted, staging)}


def test_the_command_shows_every_committed_stack() -> None:
    code, out, err = call("stacks", "--json")
    document: dict[str, Any] = json.loads(out)
    assert (code, err) == (0, "")
    assert [each["name"] for each in document["stacks"]] == existing()
    dev = next(each for each in document["stacks"] if each["name"] == "dev-westus2")
    assert (dev["environment"], dev["region"], dev["gpuOperator"]) == ("dev", "westus2", newest_release().version)
    pool = next(each for each in dev["pools"] if each["name"] == "h100gpu")
    assert pool["size"] == "Standard_NC40ads_H100_v5"
    assert pool["nodes"] == {"min": 0, "asked": 1, "max": 2}
    assert dev["hourly"]["asked"] == pytest.approx(13.158)  # GPU pools, and the system and CPU pools
    assert dev["own"][0] == {"path": "network.addressSpace", "value": "10.40.0.0/16", "layers": None}


def test_the_table_names_pools_priorities_and_what_is_the_stacks_own() -> None:
    code, out, _ = call("stacks")
    assert code == 0
    assert "a10gpu" in out
    (line,) = [
        line for line in out.splitlines() if "pools.h100gpu.scale.max" in line and line.split()[-2:] == ["8", "4"]
    ]
    assert line


def test_diff_shows_only_what_differs() -> None:
    code, out, _ = call("stacks", "--diff", "dev-westus2", "prod-westus2")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("pools.h100gpu.priority")]
    assert line.split() == ["pools.h100gpu.priority", "Spot", "layers/env/dev.yaml", "Regular", "layers/env/prod.yaml"]
    assert "kubernetesVersion" not in out


def test_diff_of_a_stack_with_itself_is_empty() -> None:
    assert "same settings" in call("stacks", "--diff", "dev-westus2", "dev-westus2")[1]


def test_diff_with_a_stack_that_is_not_there_is_wrong_input() -> None:
    code, out, err = call("stacks", "--diff", "dev-westus2", "dev-swedencentral")
    assert (code, out) == (2, "")
    assert "no such stack file" in err


def test_a_broken_stack_is_reported_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "existing", lambda: ["dev-westus2", "qa-westus2"])
    code, out, err = call("stacks", "--json")
    assert code == 2
    document = json.loads(out)
    assert [each["name"] for each in document["stacks"]] == ["dev-westus2"]
    assert [each["name"] for each in document["broken"]] == ["qa-westus2"]
    assert "Pulumi.qa-westus2.yaml: (file)\n  There is no such stack file." in err


def test_the_region_table_shows_where_each_pool_of_a_stack_could_run() -> None:
    code, out, _ = call("regions", "--stack", "dev-westus2", "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)["regions"]
    here = found["westus2"]["rtxprogpu"]
    assert (here["possible"], here["evidence"], here["usdPerHour"]) == (True, "documented", 5.5)
    assert found["eastus2"]["rtxprogpu"]["evidence"] == "price"
    assert found["spaincentral"]["rtxprogpu"]["possible"] is False
    assert found["spaincentral"]["rtxprogpu"]["verdicts"][0]["rule"] == "size-not-in-region"


def test_a_pool_spread_over_zones_cannot_run_where_there_are_none() -> None:
    found = json.loads(call("regions", "--stack", "prod-westus2", "--json")[1])["regions"]
    assert found["westus"]["system"]["possible"] is False
    assert {each["rule"] for each in found["westus"]["system"]["verdicts"]} == {"zone-not-in-region"}


def test_as_a_table_each_region_is_a_row_and_each_pool_a_column() -> None:
    out = call("regions", "--stack", "dev-westus2")[1]
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "price only, 5.500" in rows["eastus2"]
    assert "documented, 5.500" in rows["westus2"]
    assert " no " in rows["spaincentral"]
