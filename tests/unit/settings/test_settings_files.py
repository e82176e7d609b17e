"""Reading and layering files: what wins, what is refused, and where the error points."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from physical_ai.settings import (
    STACKS,
    Fault,
    Overlay,
    SettingsError,
    StackName,
    existing,
    load,
    load_config,
)
from physical_ai.settings.layers.document import read_document
from physical_ai.settings.layers.paths import show
from physical_ai.settings.layers.shape import shape_at
from tests.support.cases import in_one_test

DEV = "stacks/Pulumi.dev-westus2.yaml"


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    """A copy of the committed stacks that a test may edit."""
    return Path(shutil.copytree(STACKS, tmp_path / "stacks"))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def faults(root: Path, stack: str = "dev-westus2") -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        load(stack, root=root)
    return caught.value.faults


def only_fault(root: Path, stack: str = "dev-westus2") -> Fault:
    (fault,) = faults(root, stack)
    return fault


RECORDS = ["seed-westus2"]
"""Stacks that record the past; what they warn of: test_seed_profile.py."""

LABS = ["onprem-lab", "quickstart-westus2"]
"""Stacks for trials, in which everybody is an administrator."""


@in_one_test("stack", [stack for stack in existing() if stack not in RECORDS])
def test_each_committed_stack_loads_and_warns_of_placeholders_and_open_facts_only(stack: str) -> None:
    loaded = load(stack)
    assert loaded.settings.stack == stack
    open_facts = {"size-in-region-unconfirmed", "size-zones-unknown", "nat-one-zone"}
    found = [each for each in loaded.warnings if not each.stand_in and each.rule not in open_facts]
    expected = ["osmo.login", "osmo.access.login"] if stack in LABS else []
    assert [each.where.removeprefix("physical-ai:") for each in found] == expected


def test_the_stacks_differ_as_dev_and_prod_do() -> None:
    dev, prod = load("dev-westus2").settings, load("prod-westus2").settings
    assert {name: (pool.priority, pool.scale.min, pool.scale.initial) for name, pool in dev.pools.items()} == {
        "h100gpu": ("Spot", 0, 1),
        "rtxprogpu": ("Spot", 0, 1),
    }
    assert (dev.protect, prod.protect) == (False, True)
    assert prod.pools["h100gpu"].priority == "Regular"
    assert prod.system_pool.zones == ("1", "2", "3")
    assert prod.system_pool.scale.most > dev.system_pool.scale.most
    assert prod.cluster.api_access.authorized_ip_ranges
    assert not dev.cluster.api_access.authorized_ip_ranges


def test_the_region_without_rtx_pro_runs_another_size() -> None:
    settings = load("prod-swedencentral").settings
    assert sorted(settings.pools) == ["a10gpu", "h100gpu"]
    assert settings.pools["a10gpu"].driver.source == "aks"


@in_one_test("file", sorted((STACKS / "layers").rglob("*.yaml")), ids=lambda file: file.name)
def test_every_key_of_every_layer_is_a_setting(file: Path) -> None:
    document = read_document(file.read_text(), file.name)
    assert not document.faults
    assert [show(path) for path in document.lines if path and shape_at(path) is None] == []


def test_layers_merge_maps_and_replace_lists(stacks: Path) -> None:
    (stacks / "layers/base.yaml").write_text((stacks / "layers/base.yaml").read_text() + "access: {principals: []}\n")
    edit(stacks / "layers/env/dev.yaml", "environment: dev", "environment: dev\n  project: dev-wins")
    edit(stacks / "Pulumi.dev-westus2.yaml", "config:", "config:\n  physical-ai:systemPool: {zones: ['3']}")
    edit(stacks / "layers/env/dev.yaml", "scale: {count: 1}", "scale: {count: 1}\n  zones: ['1', '2']")
    settings = load("dev-westus2", root=stacks).settings
    assert settings.tags == {"project": "dev-wins", "managed-by": "pulumi", "environment": "dev"}
    assert settings.system_pool.zones == ("3",)
    assert settings.system_pool.sku == "Standard_D4ds_v5"


def test_null_for_a_key_that_is_no_setting_is_not_swallowed(stacks: Path) -> None:
    edit(stacks / "Pulumi.dev-westus2.yaml", "subnet: 10.40.1.0/26", "subnet: 10.40.1.0/26\n      prioritty: null")
    fault = only_fault(stacks)
    assert (fault.file, fault.where) == (DEV, "physical-ai:pools.h100gpu.prioritty")
    assert fault.fix == "Did you mean 'priority'?"


def test_null_that_removes_no_pool_names_the_pool_meant() -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign(["pools.rtxprogpuu=null"])])
    (fault,) = caught.value.faults
    assert (fault.file, fault.where, fault.fix) == ("--set", "pools.rtxprogpuu", "Did you mean 'rtxprogpu'?")


def test_two_pools_that_share_a_name_are_refused_with_both_lines(stacks: Path) -> None:
    edit(stacks / "Pulumi.dev-westus2.yaml", "rtxprogpu:", "h100gpu:")
    twice = next(fault for fault in faults(stacks) if "duplicate key" in fault.problem)
    assert (twice.file, twice.where, twice.line) == (DEV, "config.physical-ai:pools.h100gpu", 13)
    assert "first on line 10" in twice.problem


def test_a_syntax_error_names_file_and_line(stacks: Path) -> None:
    edit(stacks / "layers/env/dev.yaml", "cluster:\n  tier: Free", "cluster:\n\ttier: Free")
    fault = only_fault(stacks)
    assert (fault.file, fault.line) == ("stacks/layers/env/dev.yaml", 8)
    assert "tabs" in (fault.fix or "")


def test_a_missing_stack_file_names_the_nearest_stack(stacks: Path) -> None:
    for other in set(existing(stacks)) - {"dev-westus2", "seed-westus2"}:
        (stacks / f"Pulumi.{other}.yaml").unlink()
    fault = only_fault(stacks, "prod-westus2")
    assert fault.file == "stacks/Pulumi.prod-westus2.yaml"
    assert "Did you mean 'dev-westus2'" in (fault.fix or "")


@pytest.mark.parametrize("name", ["dev-westus", "nope-westus2"])
def test_without_a_stack_file_nothing_else_is_reported(stacks: Path, name: str) -> None:
    fault = only_fault(stacks, name)
    assert fault.problem == "There is no such stack file."
    assert (fault.fix or "").startswith("Did you mean 'dev-westus2'?  Stacks: ")


@pytest.mark.parametrize(
    ("name", "problem", "fix"),
    [
        ("dev", "names no region", "dev-westus2"),
        ("westus2", "names no environment", "dev-westus2"),
        ("Prod_westus2", "is not '<environment>-<region>'", "prod-westus2"),
        ("dev-west-us2", "is not '<environment>-<region>'", "dev-westus2"),
        ("", "is not '<environment>-<region>'", "dev-westus2"),
        ("nope", "names no region", "Stacks: dev-southeastasia, dev-westus2,"),
    ],
)
def test_a_stack_name_needs_environment_and_region(name: str, problem: str, fix: str) -> None:
    with pytest.raises(SettingsError) as caught:
        StackName.parse(name)
    (fault,) = caught.value.faults
    assert fault.where == "(stack name)"
    assert problem in fault.problem
    assert fix in (fault.fix or "")


@pytest.mark.parametrize(
    ("name", "problem", "fix"),
    [
        ("devv-westus2", "no environment 'devv'", "Did you mean 'dev-westus2'"),
        ("dev-westus22", "no region 'westus22'", "Did you mean 'dev-westus2'"),
        ("dev-eastus2", "The region 'eastus2' has no layer", "stacks/layers/region/eastus2.yaml"),
    ],
)
def test_an_environment_or_region_nothing_describes_is_named(stacks: Path, name: str, problem: str, fix: str) -> None:
    (stacks / "layers/region/eastus2.yaml").unlink(missing_ok=True)
    (stacks / f"Pulumi.{name}.yaml").write_text("config: {}\n")
    with pytest.raises(SettingsError) as caught:
        load(name, root=stacks)
    found = next(fault for fault in caught.value.faults if problem in fault.problem)
    assert found.file == f"stacks/Pulumi.{name}.yaml"
    assert fix in (found.fix or "")


def test_the_base_layer_cannot_be_missing(stacks: Path) -> None:
    (stacks / "layers/base.yaml").unlink()
    assert only_fault(stacks).file == "stacks/layers/base.yaml"


@pytest.mark.parametrize(
    ("old", "new", "path", "fix"),
    [
        ("physical-ai:network:", "network:", "network", "physical-ai:network"),
        ("physical-ai:network:", "physical_ai:network:", "physical_ai:network", "physical-ai:network"),
        ("config:", "configs:", "configs", "config"),
        ("config:", "physical-ai:protect: true\nconfig:", "physical-ai:protect", "under 'config:'"),
        ("physical-ai:network:", "physical-ai:netwrk:", "physical-ai:netwrk", "'network'"),
    ],
)
def test_a_misspelt_key_of_the_stack_file_is_reported(stacks: Path, old: str, new: str, path: str, fix: str) -> None:
    edit(stacks / "Pulumi.dev-westus2.yaml", old, new)
    fault = next(fault for fault in faults(stacks) if fault.where == path)
    assert fault.file == DEV
    assert fix in (fault.fix or "")


def test_other_projects_keys_and_secrets_are_left_alone(stacks: Path) -> None:
    edit(
        stacks / "Pulumi.dev-westus2.yaml",
        "config:",
        "encryptionsalt: v1:abc\nconfig:\n  azure-native:location: WestUS2\n"
        "  physical-ai:secrets: {token: {secure: v1:x}}",
    )
    assert "secrets" not in load("dev-westus2", root=stacks).raw


def test_an_encrypted_value_outside_secrets_is_refused(stacks: Path) -> None:
    edit(stacks / "Pulumi.dev-westus2.yaml", "config:", "config:\n  physical-ai:tags: {token: {secure: v1:x}}")
    fault = next(fault for fault in faults(stacks) if "secret" in fault.problem)
    assert (fault.file, fault.where, fault.line) == (DEV, "physical-ai:tags.token", 4)
    assert fault.fix == "Move it to physical-ai:secrets."


def test_the_engines_values_replace_the_stack_file() -> None:
    config = {
        "network": {"addressSpace": "10.50.0.0/16", "systemSubnet": "10.50.0.0/24"},
        "pools": {"h100gpu": {"subnet": "10.50.1.0/26"}, "rtxprogpu": {"subnet": "10.50.2.0/26"}},
        "protect": True,
        "secrets": {"token": "x"},
    }
    settings = load_config("dev-westus2", config).settings
    assert str(settings.network.address_space) == "10.50.0.0/16"
    assert settings.protect
    assert settings.pools["h100gpu"].is_spot


def test_the_engines_values_are_blamed_on_the_stack_file() -> None:
    with pytest.raises(SettingsError) as caught:
        load_config("dev-westus2", {"protect": "yes", "pools": {"h100gpu": {"sku": 5}}})
    assert {(fault.file, fault.where) for fault in caught.value.faults} >= {
        (DEV, "physical-ai:protect"),
        (DEV, "physical-ai:pools.h100gpu.sku"),
        (DEV, "physical-ai:network.addressSpace"),
    }


def test_a_value_without_json_form_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        load_config("dev-westus2", {"protect": object(), "tags": {1: "x", "y": float("nan")}})
    paths = {fault.where for fault in caught.value.faults}
    assert {"physical-ai:protect", "physical-ai:tags", "physical-ai:tags.y"} <= paths


def test_a_value_may_be_null_or_empty_where_a_map_is_expected(stacks: Path) -> None:
    edit(stacks / "layers/env/dev.yaml", "monitoring:\n  dailyQuotaGb: 1", "monitoring:")
    assert load("dev-westus2", root=stacks).settings.monitoring.daily_quota_gb == -1
    (stacks / "layers/region/westus2.yaml").write_text("# nothing\n")
    assert load("dev-westus2", root=stacks).settings.cluster.upgrades.node_os_window.utc_offset == "+00:00"


def test_config_of_a_stack_file_must_be_a_map(stacks: Path) -> None:
    (stacks / "Pulumi.dev-westus2.yaml").write_text("config: [1]\n")
    fault = next(fault for fault in faults(stacks) if fault.where == "config")
    assert (fault.file, fault.line) == (DEV, 1)


def test_loading_does_not_import_pulumi() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from physical_ai import settings; settings.load('dev-westus2'); sys.exit('pulumi' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=STACKS.parent, check=False).returncode == 0
