"""The command `roll`: plan, refusals, documents and exit codes, on a pool in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.physai import physai
from tests.support.rolled_pool import POOL, STACK, OneWorld, Place, loaded, pool
from workbench.cli.commands import roll as command
from workbench.cli.rolls import Run

ROLL = ("roll", STACK, POOL)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """A pool of three nodes. While the command waits, the GPU Operator takes its steps."""
    made = pool(3)
    changes = ["driver.version: 580.173.02 → 595.91.07"]

    class Told(OneWorld):
        def changes(self, pool: str) -> list[str] | None:
            del pool
            return changes if made.revision == 1 else []

    def world(*_: object) -> OneWorld:
        return Told(made.send, loaded().settings, loaded(), simulated=True, place=made)

    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path))
    monkeypatch.setattr(command, "_world", world)
    monkeypatch.setattr(Run, "pause", property(lambda _: made.operator() or 0.0))
    return made


@pytest.mark.usefixtures("place")
def test_a_plan_changes_nothing_and_names_nodes_and_drivers(place: Place) -> None:
    place.work("train", "n1")
    answer = physai(*ROLL, "--dry-run", "--json")
    assert answer.json["changes"] == ["driver.version: 580.173.02 → 595.91.07"]
    assert [each["does"] for each in answer.json["nodes"]] == ["has no work", "waits for Pod team/train", "has no work"]
    assert answer.json["schemaVersion"] >= 1
    assert place.phases() == {}
    assert "n1: present driver; waits for Pod team/train" in physai(*ROLL, "--dry-run").out


def test_it_holds_then_upgrades_and_then_has_nothing_to_do(place: Place) -> None:
    held = physai(*ROLL, "--yes", "--json")
    assert held.json["outcome"] == "held"
    assert "deploy the new driver, then run: physai roll dev-westus2 h100gpu" in held.err
    assert {each["phase"] for each in held.json["nodes"]} == {"held"}
    place.deploy()
    done = physai(*ROLL, "--json")
    assert done.json["outcome"] == "done"
    assert {each["phase"] for each in done.json["nodes"]} == {None}
    nothing = physai(*ROLL)
    assert "nothing to do" in nothing.err
    assert place.phases() == {}


def test_a_failed_node_is_exit_code_3_with_its_reason_in_the_status(place: Place) -> None:
    physai(*ROLL, "--yes")
    place.deploy()
    place.unproved = {"n0"}
    failed = physai(*ROLL, "--json", expect=3)
    assert failed.json["outcome"] == "stopped"
    assert failed.json["nodes"][0]["reason"] == "vector-add: no device"
    assert "--retry" in failed.err
    assert "vector-add: no device" in physai(*ROLL, "--status").out
    place.unproved = set()
    assert physai(*ROLL, "--retry", "--json").json["outcome"] == "done"


def test_services_stand_against_it_until_the_user_lets_them_restart(place: Place) -> None:
    place.work("web", "n0", kind="ReplicaSet")
    refused = physai(*ROLL, "--yes", expect=2)
    assert "ReplicaSet team/web-1 never ends: --restart-services" in refused.err
    assert place.phases() == {}
    assert physai(*ROLL, "--yes", "--restart-services", "--json").json["outcome"] == "held"


def test_pools_that_it_is_not_for_are_refused_with_what_to_do(place: Place) -> None:
    assert "no GPU pool 'h200gpu'; it has h100gpu, rtxprogpu" in physai("roll", STACK, "h200gpu", expect=2).err
    refused = physai("roll", STACK, "rtxprogpu", "--yes", expect=2).err
    assert "rtxprogpu has no nodes" in refused
    for node in place.nodes.values():
        node["metadata"]["annotations"] = {}
        node["metadata"]["labels"].pop("nvidia.com/gpu-driver-upgrade-state")
    assert "autoUpgrade: true" in physai(*ROLL, "--yes", expect=2).err


def test_mistakes_on_the_command_line_change_nothing(place: Place) -> None:
    assert "write minutes, hours or days" in physai(*ROLL, "--yes", "--within", "soon", expect=2).err
    assert "--retry goes on" in physai(*ROLL, "--back", "--retry", expect=2).err
    assert "no terminal" in physai(*ROLL, expect=2).err
    assert place.phases() == {}


def test_the_way_back_is_a_command_of_its_own(place: Place) -> None:
    physai(*ROLL, "--yes")
    assert physai(*ROLL, "--back", "--json").json["message"] == "no node is held"
    assert place.phases() == {}
