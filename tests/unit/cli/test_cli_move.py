"""The command `move`: a stack changed by reviewed changes, killed at every step, continued, and turned back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings.layers.document import read_document
from tests.support.moved_stack import ORIGINAL, PLACE, STACK, Killed, Place, begin, begin_again, deploy, go_on, train
from workbench.cli import move_nodes
from workbench.cli.commands import move as command
from workbench.cli.moves import Result, Run
from workbench.moves.emptying import ANNOTATION
from workbench.moves.progress import Limits, Progress
from workbench.moves.request import Refused


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    begin_again()
    monkeypatch.setattr(move_nodes, "prove", lambda run, progress: Result("passed"))
    return PLACE


def to_its_end(run: Run, progress: Progress, *, finished: bool = True) -> list[str]:
    """Runs the command, deploys what it writes, and ends the training when it is waited for. Returns the stages."""
    seen: list[str] = []
    for _ in range(30):
        progress = go_on(run, progress)
        at = progress.following()
        if at is None:
            return seen
        seen.append(at.name)
        deploy(progress)
        if at.name == "empty" and finished:
            PLACE.pods = []
    raise AssertionError(f"no end: {seen}")


def test_each_change_waits_for_its_deployment_and_the_old_pool_for_its_work(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "a")
    assert to_its_end(run, progress) == ["add", "switch", "empty", "remove"]
    data = read_document(PLACE.text, "").data["config"]
    assert data["physical-ai:pools"]["h100gpu"] is None
    assert data["physical-ai:pools"]["h100gpub"]["osDisk"]["sizeGb"] == 1024
    assert data["physical-ai:osmo"]["platforms"]["h100gpub"]["name"] == "h100"
    assert "h100gpu" not in {each["metadata"]["labels"]["agentpool"] for each in PLACE.nodes.values()}
    assert run.world.folder.read(STACK, "h100gpu", simulated=False) is None
    assert run.world.folder.last(STACK, "h100gpu", simulated=False)


def test_it_is_killed_at_every_write_and_ends_in_the_same_place(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "whole")
    to_its_end(run, progress)
    writes, text = 10**6 - PLACE.left, PLACE.text
    for kill in range(writes):
        begin_again()
        run, progress = begin(tmp_path / f"killed-{kill}")
        PLACE.left = kill
        with pytest.raises(Killed):
            to_its_end(run, progress)
        PLACE.left = 10**6
        to_its_end(run, progress)
        assert PLACE.text == text, kill


@pytest.mark.parametrize("stage", ["add", "prove", "switch", "empty", "remove"])
def test_from_every_stage_the_way_back_ends_with_the_stack_as_it_was(tmp_path: Path, stage: str) -> None:
    run, progress = begin(tmp_path / "a")
    for _ in range(30):
        progress = go_on(run, progress)
        at = progress.following()
        assert at is not None
        if at.name in {stage, {"prove": "switch"}.get(stage)}:
            break
        deploy(progress)
        if at.name == "empty":
            PLACE.pods = []
    run.world.folder.save(progress.turned())
    to_its_end(run, progress)
    assert read_document(PLACE.text, "").data == read_document(ORIGINAL, "").data
    assert {each["metadata"]["labels"]["agentpool"] for each in PLACE.nodes.values()} == {"h100gpu"}
    assert not any(ANNOTATION in each["metadata"]["annotations"] for each in PLACE.nodes.values())
    if "old-1" in PLACE.nodes:
        assert PLACE.nodes["old-1"]["spec"] == {"unschedulable": True}, "somebody else has cordoned it"


def test_work_that_comes_back_before_the_removal_is_waited_for_again(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "a")
    for _ in range(10):
        progress = go_on(run, progress)
        deploy(progress)
        at = progress.following()
        assert at is not None
        if at.name == "empty":
            break
    PLACE.pods = []
    real = move_nodes.empty

    def then_returns(run: Run, progress: Progress, stage: Any) -> Result:
        result = real(run, progress, stage)
        PLACE.pods = [train()]
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(move_nodes, "empty", then_returns)
        progress = go_on(run, progress)
    assert progress.entries["remove"].outcome == "failed"
    assert "Pod team/train runs on h100gpu" in progress.entries["remove"].remarks[0]
    assert getattr(progress.following(), "name", "") == "empty"
    assert progress.written == "switched"


def test_a_node_that_never_drains_ends_refused_and_more_time_goes_on(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "a")
    for _ in range(3):
        progress = go_on(run, progress)
        deploy(progress)
    run.world.folder.save(replace(progress, limits=Limits(0.0)))
    refused = go_on(run, progress)
    assert refused.entries["empty"].outcome == "failed"
    assert "Pod team/train still runs at the end of --within" in refused.entries["empty"].remarks[0]
    run.world.folder.save(replace(refused, limits=Limits(3600.0)))
    assert go_on(run, progress).entries["empty"].outcome == "waiting"


def wanted(**given: Any) -> Any:
    values = {"pool": "h100gpu", "to": {}, "name": None, "within": None, "budget": None, "restart_services": None,
              "level": None}  # fmt: skip
    return command.Wanted(**{**values, **given})


def mode(**given: Any) -> Any:
    flags = ("back", "forward", "dry_run", "accept_changes", "json")
    values = {**dict.fromkeys(flags, False), "yes": True, "command": "c"}
    return command._Mode(**{**values, **given})  # pyright: ignore[reportPrivateUsage]  # its flags


def test_a_move_that_another_change_of_the_pool_has_overtaken_stops(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "a")
    before = {**progress.move.before, "scale": {"min": 2, "max": 9}}
    progress = replace(progress, move=replace(progress.move, before=before))
    run.world.folder.save(progress)
    with pytest.raises(Refused, match=r"pools.h100gpu.scale.max is 8, and was 9 when the move began"):
        command._moved(run.world, wanted(), mode(), run)  # pyright: ignore[reportPrivateUsage]  # without a terminal
    code = command._moved(run.world, wanted(), mode(accept_changes=True), run)  # pyright: ignore[reportPrivateUsage]  # as above
    assert code == 0
    kept = run.world.folder.read(STACK, "h100gpu", simulated=False)
    assert kept and kept.move.before["scale"]["max"] == 8  # noqa: PT018 - one thing


def test_a_move_under_way_takes_no_other_values_but_other_limits(tmp_path: Path) -> None:
    run, progress = begin(tmp_path / "a")
    run.world.folder.save(progress)
    with pytest.raises(Refused, match="under way with other values"):
        command._moved(run.world, wanted(to={"sku": "x"}), mode(), run)  # pyright: ignore[reportPrivateUsage]  # as above
    command._moved(run.world, wanted(within=60.0, budget=5.0), mode(), run)  # pyright: ignore[reportPrivateUsage]  # as above
    kept = run.world.folder.read(STACK, "h100gpu", simulated=False)
    assert getattr(kept, "limits", None) == Limits(60.0, 5.0)


def test_nothing_is_under_way(tmp_path: Path) -> None:
    run = begin(tmp_path / "a")[0]
    with pytest.raises(Refused, match="no move of h100gpu of prod-westus2"):
        command._moved(run.world, wanted(), mode(back=True), run)  # pyright: ignore[reportPrivateUsage]  # as above
    run.world.folder.save(begin(tmp_path / "a")[1].turned())
    with pytest.raises(Refused, match="on its way back: go on with --back, or turn round with --forward"):
        command._moved(run.world, wanted(), mode(), run)  # pyright: ignore[reportPrivateUsage]  # as above
    run.world.folder.state.unlink()
    with pytest.raises(Refused, match="name what the new pool has instead"):
        command._moved(run.world, wanted(), mode(), run)  # pyright: ignore[reportPrivateUsage]  # as above
