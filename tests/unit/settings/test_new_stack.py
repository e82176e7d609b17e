"""`physai stack new`: what it proposes, what it refuses, what it writes, and that nothing is left half done."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.settings import STACKS, SettingsError, load
from physical_ai.settings.layers import names
from physical_ai.settings.new_stack import writing
from tests.unit.cli.test_cli_commands import call


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the committed stacks, which the command takes for the repository's own."""
    root = Path(shutil.copytree(STACKS, tmp_path / "stacks"))
    monkeypatch.setattr(names, "STACKS", root)
    return root


def new(*arguments: str) -> tuple[int, str, str]:
    return call("stack", "new", *arguments)


def files_in(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*") if path.is_file()}


def test_a_new_region_gets_its_stack_and_its_layer_and_both_load(stacks: Path) -> None:
    before = files_in(stacks)
    code, out, _ = new("dev-eastus2", "--yes")
    assert code == 0
    assert files_in(stacks) - before == {Path("Pulumi.dev-eastus2.yaml"), Path("layers/region/eastus2.yaml")}
    loaded = load("dev-eastus2", root=stacks).settings
    assert loaded.cluster.upgrades.node_os_window.utc_offset == "-05:00"
    assert (
        (stacks / "layers/region/eastus2.yaml").read_text().startswith("# yaml-language-server: $schema=../../schema/")
    )
    assert set(loaded.pools) == {"h100gpu", "rtxprogpu"}
    assert "physai up dev-eastus2" in out
    assert "physai check dev-eastus2" in out


@pytest.mark.deep  # in `make test`: a new region with its layer above
def test_a_region_with_a_layer_keeps_it(stacks: Path) -> None:
    before = (stacks / "layers/region/swedencentral.yaml").read_text()
    assert new("staging-swedencentral", "--yes")[0] == 0
    assert (stacks / "layers/region/swedencentral.yaml").read_text() == before
    assert set(load("staging-swedencentral", root=stacks).settings.pools) == {"h100gpu", "a10gpu"}


def test_the_address_space_is_one_that_no_stack_has(stacks: Path) -> None:
    assert new("dev-eastus2", "--yes")[0] == 0
    assert new("staging-eastus2", "--yes")[0] == 0
    spaces = [load(name, root=stacks).settings.network.address_space for name in ("dev-eastus2", "staging-eastus2")]
    assert not spaces[0].overlaps(spaces[1])


def test_an_address_space_of_another_stack_is_refused_and_a_free_one_named(stacks: Path) -> None:
    before = files_in(stacks)
    code, _, err = new("dev-eastus2", "--yes", "--address-space", "10.42.0.0/16")
    assert code == 2
    assert "prod-westus2" in err
    assert files_in(stacks) == before


@pytest.mark.parametrize(
    "text", ["10.60.0.1/16", "tenfortyfive", "10.60.0.0/25", "8.8.0.0/16", "10.244.0.0/16", "10.245.0.0/17"]
)
def test_an_address_space_that_will_not_do_is_wrong_input(stacks: Path, text: str) -> None:
    before = files_in(stacks)
    assert new("dev-eastus2", "--yes", "--address-space", text)[0] == 2
    assert files_in(stacks) == before


def test_what_a_region_lacks_is_written_to_its_layer(stacks: Path) -> None:
    assert new("prod-westus", "--yes")[0] == 0
    layer = yaml.safe_load((stacks / "layers/region/westus.yaml").read_text())
    assert layer["systemPool"] == {"zones": []}
    assert new("prod-spaincentral", "--yes")[0] == 0
    layer = yaml.safe_load((stacks / "layers/region/spaincentral.yaml").read_text())
    assert layer["pools"] == {"rtxprogpu": None}
    assert set(load("prod-spaincentral", root=stacks).settings.pools) == {"h100gpu"}


def test_chosen_options_are_written_to_the_stack_file(stacks: Path) -> None:
    code, _, _ = new("dev-eastus2", "--yes", "--size", "h100gpu=Standard_NC80adis_H100_v5", "--size", "rtxprogpu=none")
    assert code == 0
    own = yaml.safe_load((stacks / "Pulumi.dev-eastus2.yaml").read_text())["config"]["physical-ai:pools"]
    assert own["h100gpu"]["sku"] == "Standard_NC80adis_H100_v5"
    assert own["rtxprogpu"] is None
    assert "pools" not in yaml.safe_load((stacks / "layers/region/eastus2.yaml").read_text())


def test_a_size_whose_local_disk_is_too_small_gets_a_managed_disk(stacks: Path) -> None:
    assert new("dev-eastus2", "--yes", "--size", "h100gpu=Standard_NC24ads_A100_v4")[0] == 0
    assert load("dev-eastus2", root=stacks).settings.pools["h100gpu"].os_disk.type == "Managed"


def test_a_size_that_the_driver_source_does_not_fit_gets_one_that_does(stacks: Path) -> None:
    assert new("dev-eastus2", "--yes", "--size", "h100gpu=Standard_NV36ads_A10_v5", "--size", "rtxprogpu=none")[0] == 0
    assert load("dev-eastus2", root=stacks).settings.pools["h100gpu"].driver.source == "grid"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--size", "h100gpu=Standard_NC40ads_H100"), "Did you mean 'Standard_NC40ads_H100_v5'"),
        (("--size", "h100gpu=Standard_D8ds_v5"), "has no GPU"),
        (("--size", "h100=Standard_NC40ads_H100_v5"), "Did you mean 'h100gpu'"),
        (("--size", "h100gpu"), "POOL=VALUE"),
        (("--size", "cpu=none"), "every cluster has a pool cpu"),
        (("--driver", "h100gpu=grid"), "does not work on"),
        (("--driver", "h100gpu=nvidia"), "not a driver source"),
        (("--zones", "h100gpu=4"), "eastus2 has zones 1, 2, 3"),
        (("--api-range", "10.0.0.0/33"), "not an IPv4 range"),
    ],
)
def test_a_choice_that_is_impossible_is_refused_with_a_message_and_nothing_written(
    stacks: Path, options: tuple[str, ...], expected: str
) -> None:
    before = files_in(stacks)
    code, _, err = new("dev-eastus2", "--yes", *options)
    assert code == 2
    assert expected in " ".join(err.replace("│", " ").split())
    assert files_in(stacks) == before


def test_a_size_the_region_lacks_is_refused_with_regions_that_have_it(stacks: Path) -> None:
    rtx = "rtxprogpu=Standard_NC144ds_xl_RTXPRO6000BSE_v6"
    code, _, err = new("dev-spaincentral", "--yes", "--size", rtx)
    assert code == 2
    assert "germanywestcentral" in err
    assert not (stacks / "Pulumi.dev-spaincentral.yaml").exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dev-westus2", "The stack already exists"),
        ("qa-eastus2", "There is no environment 'qa'"),
        ("dev-atlantis", "There is no region 'atlantis'"),
        ("dev", "names no region"),
        ("staging", "Such as 'staging-eastus2'."),
    ],
)
def test_an_invalid_name_is_refused(stacks: Path, name: str, expected: str) -> None:
    before = files_in(stacks)
    code, out, err = new(name, "--yes")
    assert (code, out) == (2, "")
    assert expected in err
    assert files_in(stacks) == before


def test_an_invalid_name_is_reported_before_the_missing_terminal() -> None:
    code, _, err = new("foo")
    assert code == 2
    assert "names no region" in err
    assert "terminal" not in err


def test_a_protected_stack_starts_with_a_placeholder_that_azure_never_gets(stacks: Path) -> None:
    code, out, _ = new("prod-eastus2", "--yes")
    assert code == 0
    assert "authorizedIpRanges" in out
    loaded = load("prod-eastus2", root=stacks)
    with pytest.raises(SettingsError, match="RFC 5737"):
        loaded.for_azure()
    assert "# Placeholder" in (stacks / "Pulumi.prod-eastus2.yaml").read_text()


def test_given_ranges_are_written_without_a_placeholders_comment(stacks: Path) -> None:
    assert new("prod-eastus2", "--yes", "--api-range", "20.30.40.0/28", "--api-range", "20.30.50.1/32")[0] == 0
    loaded = load("prod-eastus2", root=stacks)
    ranges = [str(each) for each in loaded.settings.cluster.api_access.authorized_ip_ranges]
    assert ranges == ["20.30.40.0/28", "20.30.50.1/32"]
    loaded.for_azure()
    assert "Placeholder" not in (stacks / "Pulumi.prod-eastus2.yaml").read_text()


def test_a_faulty_sum_is_reported_with_its_path_and_nothing_is_written(stacks: Path) -> None:
    before = files_in(stacks)
    code, _, err = new("seed-eastus2", "--yes")  # whose environment leaves most to a profile
    assert code == 2
    assert "stacks/Pulumi.seed-eastus2.yaml" in err
    assert "'scale' is missing" in err
    assert files_in(stacks) == before


def test_ranges_that_are_not_public_are_refused(stacks: Path) -> None:
    code, _, err = new("prod-eastus2", "--yes", "--api-range", "10.0.0.0/8")
    assert code == 2
    assert "is not public" in err
    assert not (stacks / "Pulumi.prod-eastus2.yaml").exists()


def test_a_run_without_a_terminal_is_wrong_input(stacks: Path) -> None:
    before = files_in(stacks)
    code, _, err = new("dev-eastus2")
    assert code == 2
    assert "--yes" in err
    assert files_in(stacks) == before


def test_a_dry_run_prints_the_files_and_writes_none(stacks: Path) -> None:
    before = files_in(stacks)
    code, out, _ = new("dev-eastus2", "--yes", "--dry-run")
    assert code == 0
    assert "--- stacks/Pulumi.dev-eastus2.yaml" in out
    assert "physical-ai:network:" in out
    assert files_in(stacks) == before


def test_json_output_lists_pools_quota_and_warnings_of_the_new_stack(stacks: Path) -> None:
    code, out, _ = new("dev-eastus2", "--yes", "--json")
    document: dict[str, Any] = json.loads(out)
    assert code == 0
    assert document["written"] == ["layers/region/eastus2.yaml", "Pulumi.dev-eastus2.yaml"]
    assert (stacks / "Pulumi.dev-eastus2.yaml").read_text() == document["files"]["Pulumi.dev-eastus2.yaml"]
    spot = next(each for each in document["quota"] if each["usage"] == "lowPriorityCores")
    assert spot["most"] == 2 * 40 + 2 * 144
    assert any("size-in-region-unconfirmed" in warning for warning in document["warnings"])


def terminal(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> None:
    """A user who answers one line after the other."""
    waiting = iter(answers)
    monkeypatch.setattr("workbench.cli.commands.stack_new._is_terminal", lambda: True)

    def prompt(text: str, default: str = "", **_: Any) -> str:
        return next(waiting) or default

    monkeypatch.setattr("workbench.cli.commands.stack_new.typer.prompt", prompt)
    monkeypatch.setattr("workbench.cli.commands.stack_new.typer.confirm", lambda *_, **__: next(waiting) == "y")


def test_on_a_terminal_a_wrong_answer_is_explained_and_asked_again(
    stacks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = ["Standard_NC40ads_H100", "Standard_NC40ads_H100_v5", "", "none"]
    terminal(monkeypatch, [*sizes, "10.42.0.0/16", "10.60.0.0/16", "y"])
    code, out, err = new("dev-eastus2")
    assert code == 0
    assert "Did you mean 'Standard_NC40ads_H100_v5'" in err
    assert "overlaps 10.42.0.0/16 of prod-westus2" in err
    assert "written" in out
    loaded = load("dev-eastus2", root=stacks).settings
    assert str(loaded.network.address_space) == "10.60.0.0/16"
    assert set(loaded.pools) == {"h100gpu"}


@pytest.mark.deep  # in `make test`: a wrong answer that is explained above
def test_a_wrong_answer_about_public_ranges_is_asked_again(stacks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = ["192.168.0.0/24", "20.30.40.0/28, 20.30.50.1/32"]
    terminal(monkeypatch, ["", "", "", "", "", *ranges, "y"])
    code, _, err = new("prod-eastus2")
    assert code == 0
    assert "192.168.0.0/24 is not public" in err
    loaded = load("prod-eastus2", root=stacks).settings
    assert len(loaded.cluster.api_access.authorized_ip_ranges) == 2


def test_a_no_at_the_end_writes_nothing(stacks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_in(stacks)
    terminal(monkeypatch, ["", "", "", "", "", "n"])
    code, _, err = new("dev-eastus2")
    assert code == 0
    assert "nothing was written" in err
    assert files_in(stacks) == before


@pytest.mark.deep  # in `make test`: options written to the stack file
def test_zones_given_for_a_pool_are_its_own(stacks: Path) -> None:
    assert new("dev-eastus2", "--yes", "--zones", "h100gpu=1, 2")[0] == 0
    assert load("dev-eastus2", root=stacks).settings.pools["h100gpu"].zones == ("1", "2")


def test_a_read_only_folder_is_reported_without_a_traceback(stacks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_in(stacks)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(writing.tempfile, "mkstemp", refuse)
    code, _, err = new("dev-eastus2", "--yes")
    assert code == 1
    assert "Permission denied" in err
    assert files_in(stacks) == before


def test_deployers_are_written_into_the_stack_file(stacks: Path) -> None:
    group, user = (f"{digit * 8}-1111-1111-1111-{digit * 12}" for digit in "12")
    assert new("staging-eastus2", "--yes", "--deployer", group, "--deployer", f"user={user}")[0] == 0
    named = load("staging-eastus2", root=stacks).settings.access.deployers
    assert [(each.principal_id, each.principal_type) for each in named] == [(group, "Group"), (user, "User")]


@pytest.mark.parametrize(("deployer", "expected"), [("robot=1", "group, user, pipeline"), ("team-a", "principalId")])
def test_a_deployer_that_is_none_is_refused(stacks: Path, deployer: str, expected: str) -> None:
    before = files_in(stacks)
    code, _, err = new("staging-eastus2", "--yes", "--deployer", deployer)
    assert code == 2
    assert expected in err
    assert files_in(stacks) == before
