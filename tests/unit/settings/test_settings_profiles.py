"""Profiles: where one is named, the order of its layer, and the error for a wrong name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from physical_ai.settings import STACKS, Fault, Overlay, SettingsError, load, load_config
from tests.support.origins import origins

DEV = "stacks/Pulumi.dev-westus2.yaml"
LEAN = "stacks/layers/profile/lean.yaml"


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    """The committed stacks, in which dev-westus2 names the profile `lean`."""
    root = Path(shutil.copytree(STACKS, tmp_path / "stacks"))
    (root / "layers/profile/lean.yaml").write_text(
        "tags: {environment: lean}\n"
        "cluster: {upgrades: {nodeOsWindow: {utcOffset: '+02:00'}}}\n"
        "network: {addressSpace: 10.0.0.0/16}\n"
        "pools: {h100gpu: {priority: Regular, maxPods: 50}}\n"
    )
    named(root, "lean")
    return root


def named(root: Path, profile: str) -> None:
    file = root / "Pulumi.dev-westus2.yaml"
    lines = [line for line in file.read_text().splitlines() if "profile" not in line]
    lines.insert(lines.index("config:") + 1, f"  physical-ai:profile: {profile}")
    file.write_text("\n".join(lines) + "\n")


def only_fault(root: Path, *assignments: str) -> Fault:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign(assignments)] if assignments else [], root)
    (fault,) = caught.value.faults
    return fault


def test_a_profile_lies_above_environment_and_region_and_below_the_stack_file(stacks: Path) -> None:
    loaded = load("dev-westus2", root=stacks)
    settings, origin = loaded.settings, origins(loaded)
    assert settings.profile == "lean"
    assert (settings.tags["environment"], origin["tags.environment"]) == ("lean", LEAN)
    assert settings.cluster.upgrades.node_os_window.utc_offset == "+02:00"
    assert origin["pools.h100gpu.maxPods"] == LEAN
    assert not settings.pools["h100gpu"].is_spot
    assert settings.pools["rtxprogpu"].is_spot
    assert str(settings.network.address_space) == "10.40.0.0/16"
    assert origin["network.addressSpace"] == origin["profile"] == DEV


def test_the_engines_configuration_names_it_as_well(stacks: Path) -> None:
    own = {"network": {"systemSubnet": "10.0.0.0/24"}, "pools": {"h100gpu": {"subnet": "10.0.1.0/26"}}}
    own["pools"]["rtxprogpu"] = {"subnet": "10.0.2.0/26"}
    loaded = load_config("dev-westus2", {**own, "profile": "lean"}, stacks)
    assert loaded.settings.pools["h100gpu"].max_pods == 50
    assert origins(loaded)["pools.h100gpu.maxPods"] == LEAN
    network = {"addressSpace": "10.0.0.0/16", "systemSubnet": "10.0.0.0/24"}
    without = load_config("dev-westus2", {**own, "network": network, "profile": ""}, stacks)
    assert (without.settings.profile, without.settings.pools["h100gpu"].max_pods) == (None, 110)


def test_an_overlay_chooses_another_one_or_none(stacks: Path) -> None:
    (stacks / "layers/profile/wide.yaml").write_text("pools: {h100gpu: {maxPods: 200}}\n")
    wide = load("dev-westus2", [Overlay.assign(["profile=wide"])], stacks)
    assert wide.settings.pools["h100gpu"].max_pods == 200
    assert origins(wide)["profile"] == "--set"
    none = load("dev-westus2", [Overlay.assign(["profile=null"])], stacks)
    assert (none.settings.profile, none.settings.pools["h100gpu"].max_pods) == (None, 110)


def test_an_unknown_profile_is_reported_where_it_is_named_with_the_known_ones(stacks: Path) -> None:
    named(stacks, "leen")
    fault = only_fault(stacks)
    assert (fault.file, fault.where, fault.line) == (DEV, "physical-ai:profile", 4)
    assert fault.problem == "There is no profile 'leen'."
    assert "Did you mean 'lean'?" in (fault.fix or "")
    assert "Profiles: lean, onprem, onprem-2026-03, seed-2026-02." in (fault.fix or "")
    fault = only_fault(stacks, "profile=nothing-like-it")
    assert (fault.file, fault.where) == ("--set", "profile")
    assert "Did you mean" not in (fault.fix or "")


@pytest.mark.parametrize("name", ["../base", "lean.yaml", "'[x]'", "''"])
def test_a_name_that_is_no_file_of_the_folder_is_unknown(stacks: Path, name: str) -> None:
    named(stacks, name)
    assert only_fault(stacks).where == "physical-ai:profile"


@pytest.mark.parametrize("value", ["2026", "[lean]", "{name: lean}", "true"])
def test_a_profile_that_is_no_text_is_reported_as_such(stacks: Path, value: str) -> None:
    named(stacks, value)
    fault = only_fault(stacks)
    assert fault.where == "physical-ai:profile"
    assert "text" in fault.problem


def test_a_fault_in_a_profile_names_its_file_and_line(stacks: Path) -> None:
    (stacks / "layers/profile/lean.yaml").write_text("pools:\n  h100gpu:\n    maxPodds: 50\n")
    fault = only_fault(stacks)
    assert (fault.file, fault.where, fault.line) == (LEAN, "pools.h100gpu.maxPodds", 3)


@pytest.mark.parametrize("layer", ["base", "env/dev", "region/westus2", "profile/lean"])
def test_a_layer_names_no_profile(stacks: Path, layer: str) -> None:
    file = stacks / f"layers/{layer}.yaml"
    file.write_text(f"{file.read_text()}\nprofile: seed-2026-02\n")
    fault = only_fault(stacks)
    assert (fault.file, fault.where) == (f"stacks/layers/{layer}.yaml", "profile")
    assert "physical-ai:profile" in (fault.fix or "")


def test_explain_names_the_profile_as_an_origin(stacks: Path) -> None:
    rows = {row.path: row.origin for row in load("dev-westus2", root=stacks).explain("pools.h100gpu")}
    assert rows["pools.h100gpu.maxPods"] == LEAN
