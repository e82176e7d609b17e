"""Layers of regions: they replace what a region does not offer, and change nothing that belongs to the environment."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.settings import STACKS, Overlay, Priority, Scale, SettingsError, load
from physical_ai.settings.layers import names
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.region_layer import environments_values
from physical_ai.settings.new_stack import choose, new_files, propose
from physical_ai.settings.new_stack.writing import verified
from tests.unit.cli.test_cli_commands import call

REGION_LAYERS = sorted((STACKS / "layers/region").glob("*.yaml"))
ENVIRONMENTS = ("dev", "staging", "prod", "quickstart")
REPLACING = ("swedencentral", "westeurope")


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the committed stacks that a test may edit, and that commands take for the repository's own."""
    root = Path(shutil.copytree(STACKS, tmp_path / "stacks"))
    monkeypatch.setattr(names, "STACKS", root)
    return root


def environment(name: str) -> Mapping[str, Any]:
    return yaml.safe_load((STACKS / f"layers/env/{name}.yaml").read_text())


@pytest.mark.parametrize("file", REGION_LAYERS, ids=lambda file: file.stem)
def test_no_region_sets_what_belongs_to_the_environment(file: Path) -> None:
    layer = Layer(file.name, yaml.safe_load(file.read_text()))
    assert [each.where for each in environments_values(layer)] == []


@pytest.mark.parametrize("region", REPLACING)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_pool_of_a_region_has_the_environments_scale_and_priority(name: str, region: str, stacks: Path) -> None:
    (stacks / f"Pulumi.{name}-{region}.yaml").unlink(missing_ok=True)
    proposal = propose(f"{name}-{region}", stacks)
    choices = {pool.name: choose(pool, region, proposal.region_zones) for pool in proposal.pools}
    pool = verified(f"{name}-{region}", new_files(proposal, choices, proposal.address_space), stacks).settings.pools[
        "a10gpu"
    ]
    expected = environment(name)["pools"]["rtxprogpu"]
    assert pool.priority is Priority(expected["priority"])
    assert pool.scale == Scale(**expected["scale"])
    assert pool.sku == "Standard_NV36ads_A10_v5"


@pytest.mark.parametrize(
    "text",
    [
        "protect: true",
        "cluster: {tier: Standard}",
        "systemPool: {scale: {count: 3}}",
        "pools: {h100gpu: {priority: Regular}}",
        "pools: {h100gpu: {scale: {max: 9}}}",
        "pools: {h100gpu: {spot: {maxPrice: 1}}}",
    ],
)
def test_a_region_that_sets_it_is_warned_about_with_its_file(text: str, stacks: Path) -> None:
    (stacks / "layers/region/westus2.yaml").write_text(text)
    (warning,) = [each for each in load("dev-westus2", root=stacks).warnings if "belongs to the env" in each.problem]
    assert warning.file == "stacks/layers/region/westus2.yaml"
    assert not warning.is_error
    assert "layers/env" in (warning.fix or "")


def test_the_origin_of_a_kept_value_is_the_environments_file() -> None:
    rows = {each.path: each.origin for each in load("prod-swedencentral").explain("pools.a10gpu")}
    assert rows["pools.a10gpu.scale.max"] == "stacks/layers/env/prod.yaml"
    assert rows["pools.a10gpu.priority"] == "stacks/layers/env/prod.yaml"
    assert rows["pools.a10gpu.sku"] == "stacks/layers/region/swedencentral.yaml"
    assert "pools.a10gpu.replaces" not in rows


def test_a_replaced_pool_that_no_layer_has_is_an_error_with_the_nearest(stacks: Path) -> None:
    file = stacks / "layers/region/swedencentral.yaml"
    file.write_text(file.read_text().replace("replaces: rtxprogpu", "replaces: rtxpro"))
    with pytest.raises(SettingsError) as caught:
        load("prod-swedencentral", root=stacks)
    (fault,) = [each for each in caught.value.faults if "replaces" in each.where]
    assert fault.fix == "Did you mean 'rtxprogpu'?"


def test_an_environment_without_the_pool_gets_none_in_its_place(stacks: Path) -> None:
    (stacks / "layers/env/dev.yaml").write_text(
        (stacks / "layers/env/dev.yaml")
        .read_text()
        .replace("  rtxprogpu:\n    priority: Spot\n    scale: {min: 0, max: 2}\n", "  rtxprogpu: null\n")
    )
    assert [pool.name for pool in propose("dev-swedencentral", stacks).pools] == ["system", "cpu", "h100gpu"]


def test_a_pool_cannot_replace_itself(stacks: Path) -> None:
    (stacks / "layers/region/westus2.yaml").write_text("pools: {h100gpu: {replaces: h100gpu}}")
    with pytest.raises(SettingsError, match="replaces"):
        load("dev-westus2", root=stacks)


def test_the_command_says_what_replaces_a_pool_and_why(stacks: Path) -> None:
    code, _, err = call("stack", "new", "dev-swedencentral", "--yes", "--dry-run")
    assert code == 0
    assert "rtxprogpu: replaced by a10gpu" in err
    assert "layers/region/swedencentral.yaml" in err
    assert "no documentation lists the size there" in err
    assert "a10gpu" in err.partition("Spot")[2]


def test_the_command_says_why_it_leaves_a_pool_out(stacks: Path) -> None:
    assert (
        "left out: rtxprogpu. spaincentral does not list"
        in call("stack", "new", "dev-spaincentral", "--yes", "--dry-run")[2]
    )
    assert (
        "You asked for none."
        in call("stack", "new", "dev-eastus2", "--yes", "--dry-run", "--size", "rtxprogpu=none")[2]
    )


@pytest.mark.parametrize("name", ["qa-norwayeast", "dev-norwayeast", "qa-westus2"])
def test_a_wrong_name_is_one_error(name: str, stacks: Path) -> None:
    code, _, err = call("stack", "new", name, "--yes")
    assert code != 0
    assert "1 error" in err
    assert "AKS clusters only" not in err


@pytest.mark.parametrize(
    "pool",
    [
        "{}",
        "{sharing: {mig: {strategy: single, profiles: {1g.12gb: 7}}}}",
        "{allocation: dra}",
        "{fabric: infiniband}",
        '{zones: ["1"]}',
        "{osDisk: {type: Ephemeral, sizeGb: 100}}",
    ],
)
def test_a_wrong_size_is_one_error_whatever_else_the_pool_has(pool: str, stacks: Path) -> None:
    name = "Standard_NC40ads_H100_v9"
    (stacks / "layers/region/westus2.yaml").write_text(f"pools: {{h100gpu: {pool}}}")
    file = stacks / "Pulumi.dev-westus2.yaml"
    file.write_text(file.read_text().replace("h100gpu:\n", f"h100gpu:\n      sku: {name}\n", 1))
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", root=stacks)
    assert [each.where for each in caught.value.faults] == ["physical-ai:pools.h100gpu.sku"]


@pytest.mark.parametrize("pool", ["systemPool", "cpuPool"])
def test_a_wrong_size_of_another_pool_is_one_error(pool: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load("prod-westeurope", [Overlay.assign([f"{pool}.sku=Standard_D4ds_v9"])])
    assert [each.where for each in caught.value.faults] == [f"{pool}.sku"]


def test_a_wrong_size_is_no_finding_about_adapters() -> None:
    wrong = ["pools.h100gpu.sku=Standard_NC40ads_H100_v9", "osmo.platforms.h100gpu.rdma=true"]
    with pytest.raises(SettingsError) as caught:
        load("prod-westeurope", [Overlay.assign(wrong)])
    assert [each.where for each in caught.value.faults] == ["pools.h100gpu.sku"]
