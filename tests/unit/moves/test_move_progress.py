"""Progress of a move: where it goes on, its way back, and what its file must not be."""

from __future__ import annotations

import pytest

from tests.support.cases import in_one_test
from workbench.moves.layers import Move
from workbench.moves.progress import Limits, Progress, Unreadable, parsed, same_request, text
from workbench.moves.stages import BACK, FORWARD, Stage, stages

MOVE = Move("dev-westus2", "h100gpu", "h100gpub", {"osDisk.sizeGb": "1024"}, {"sku": "s"}, {}, {}, None, True)
NEW = Progress(MOVE, False, Limits(3600.0))


def up_to(stage: Stage, progress: Progress = NEW) -> Progress:
    """Every stage before this one has passed."""
    for each in stages(back=progress.back):
        if each == stage:
            break
        progress = progress.begun(each, "t1").ended(each, "passed", "t2")
    return progress


@in_one_test("stage", FORWARD, ids=lambda each: each.name)
@in_one_test("outcome", ["failed", "waiting", None])
def test_it_goes_on_where_it_stopped_and_keeps_the_time_of_its_beginning(stage: Stage, outcome: str | None) -> None:
    stopped = up_to(stage).begun(stage, "t3")
    if outcome is not None:
        stopped = stopped.ended(stage, outcome, "t4", "why")  # pyright: ignore[reportArgumentType]  # one of the literals
    kept = parsed(text(stopped), "dev-westus2", "h100gpu", simulated=False)
    assert kept == stopped
    assert kept.following() == stage
    assert kept.begun(stage, "t5").entries[stage.name].began == "t3"


@pytest.mark.parametrize("stage", FORWARD, ids=lambda each: each.name)
def test_from_every_stage_there_is_a_way_back_and_forward_again(stage: Stage) -> None:
    back = up_to(stage).turned()
    assert back.following() == BACK[0]
    assert back.turned() == back
    again = up_to(BACK[-1], back).forward()
    assert again.following() == (FORWARD[1] if stage != FORWARD[0] else FORWARD[0])
    assert again.turned().following() == BACK[0]


def test_every_stage_says_its_way_back_and_ends_with_settings_that_it_names() -> None:
    names = [each.name for each in (*FORWARD, *BACK)]
    assert len(set(names)) == len(names)
    for each in (*FORWARD, *BACK):
        assert each.back.format(stack="s", pool="p", old="o", new="n")
        assert each.does.format(old="o", new="n")
    assert [each.state for each in FORWARD if each.kind == "settings"] == ["both", "switched", "moved"]
    assert [each.state for each in BACK if each.kind == "settings"] == ["both", "original"]


@pytest.mark.parametrize(
    ("to", "name", "problem"),
    [
        ({}, None, ""),
        ({"osDisk.sizeGb": "1024"}, "h100gpub", ""),
        ({"osDisk.sizeGb": "2048"}, None, "with other values: --to osDisk.sizeGb=1024"),
        ({"osDisk.sizeGb": "1024", "zones": "['1']"}, None, "with other values"),
        ({}, "other", "under way to h100gpub, and not to other"),
    ],
)
def test_a_move_under_way_is_not_mixed_with_another(to: dict[str, str], name: str | None, problem: str) -> None:
    assert problem in same_request(NEW, to, name)
    assert bool(problem) is bool(same_request(NEW, to, name))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "Invalid JSON"),
        ("[]", "the file"),
        (text(NEW)[:100], "Invalid JSON"),
        (text(NEW).replace('"version": 1', '"version": 2'), "version: it is 2"),
        (text(NEW).replace("dev-westus2", "prod-westus2"), "it is about h100gpu of prod-westus2"),
        (text(NEW).replace('"simulated": false', '"simulated": true'), "it is about"),
        (text(up_to(FORWARD[2])).replace('"passed"', '"great"'), "entries.plan.outcome"),
    ],
)
def test_a_file_that_was_cut_or_edited_is_not_used(content: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        parsed(content, "dev-westus2", "h100gpu", simulated=False)
