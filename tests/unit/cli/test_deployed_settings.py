"""The settings that commands judge nodes by: those of the deployment, not of a file that has changed since."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.repository import STACKS
from physical_ai.settings import load, load_config
from simulator.simulation import Simulation
from tests.unit.settings.test_settings_existing import LAB
from workbench.cli.deployed_settings import deployed_settings, other_settings

STACK = "dev-westus2"
SIZE = "Standard_NC80adis_H100_v5"
FILE: Mapping[str, Any] = yaml.safe_load((STACKS / f"Pulumi.{STACK}.yaml").read_text())["config"]


def other(**pool: Any) -> dict[str, Any]:
    """The stack's own configuration with another size of the pool h100gpu, and something that is not of nodes."""
    pools = FILE["physical-ai:pools"]
    h100 = {**pools["h100gpu"], "sku": SIZE, **pool}
    return {**FILE, "physical-ai:pools": {**pools, "h100gpu": h100}, "physical-ai:charts": {"source": "cache"}}


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the simulated stack was deployed with; the stack's file says something else."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(Simulation, "deployed_config", lambda _: given)
    return given


def test_a_simulated_stack_is_judged_by_its_last_update_and_the_difference_is_printed(
    deployed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    deployed.update(other())
    assert deployed_settings(STACK, None).pools["h100gpu"].sku == SIZE
    said = " ".join(capsys.readouterr().err.split())
    assert f"{STACK} was deployed with other settings than its file has now (pools.h100gpu.sku" in said
    # What says nothing of nodes is no difference here.
    assert "charts" not in said


def test_many_differences_are_counted(deployed: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    labels = {f"example.com/{index}": "x" for index in range(6)}
    deployed.update(other(labels=labels))
    deployed_settings(STACK, None)
    assert re.search(r"and [1-9] more\); those count here", " ".join(capsys.readouterr().err.split()))


@pytest.mark.parametrize("kept", [{}, {"physical-ai:pools": {"h100gpu": {"sku": "Standard_None"}}}])
def test_without_a_deployment_that_is_still_valid_the_file_counts(
    deployed: dict[str, Any], kept: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    deployed.update(kept)
    assert deployed_settings(STACK, None).pools == load(STACK).settings.pools
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("kubeconfig", "assignments", "size"),
    [
        (Path("kubeconfig"), None, None),
        (Path("kubeconfig"), ["pools.h100gpu.sku=Standard_NC80adis_H100_v5"], SIZE),
        (None, ["pools.h100gpu.sku=Standard_NC80adis_H100_v5"], SIZE),
    ],
)
def test_a_real_cluster_and_what_the_command_line_adds_are_judged_by_the_file(
    deployed: dict[str, Any], kubeconfig: Path | None, assignments: list[str] | None, size: str | None
) -> None:
    deployed["physical-ai:pools"] = {"h100gpu": {"sku": "Standard_None"}}
    found = deployed_settings(STACK, kubeconfig, None, assignments).pools["h100gpu"].sku
    assert found == (size or load(STACK).settings.pools["h100gpu"].sku)


def node(name: str, pool: str, size: str) -> dict[str, Any]:
    labels = {"kubernetes.azure.com/agentpool": pool, "agentpool": pool, "node.kubernetes.io/instance-type": size}
    return {"metadata": {"name": name, "labels": labels}}


def test_nodes_of_another_size_than_the_settings_are_named_once_a_pool() -> None:
    settings = load(STACK).settings
    right = settings.pools["h100gpu"].sku
    nodes = [node("a", "h100gpu", right), node("b", "h100gpu", SIZE), node("c", "h100gpu", SIZE)]
    (said,) = other_settings([*nodes, node("d", "another", SIZE), node("e", "h100gpu", "")], settings)
    assert said == (
        f"b of pool h100gpu is a {SIZE}, and the settings say {right}; the cluster was deployed with other settings: "
        "name them with -f FILE or --set"
    )


def test_nodes_of_a_cluster_that_exists_already_have_no_size_of_azures() -> None:
    settings = load_config("any-lab", LAB).settings
    assert other_settings([node("a", "b200", SIZE)], settings) == []
