"""Progress of a first contact: where it goes on, and what its file must not be."""

from __future__ import annotations

import json

import pytest

from tests.support.cases import in_one_test
from workbench.first_contact.judging import Result
from workbench.first_contact.progress import (
    Entry,
    Progress,
    Unreadable,
    back_to,
    begun,
    ended,
    following,
    page,
    parsed,
    text,
)
from workbench.first_contact.stages import stages

EVERY = stages()
NEW = Progress("dev-westus2", False, "digest")


def up_to(name: str) -> Progress:
    """Every stage before this one has passed."""
    progress = NEW
    for each in EVERY:
        if each.name == name:
            return progress
        progress = ended(begun(progress, each, "t1", ["a b"]), each, Result("passed"), when="t2", settings="digest")
    return progress


@in_one_test("each", EVERY, ids=lambda each: each.name)
def test_it_goes_on_where_it_stopped(each: object) -> None:
    stage = next(one for one in EVERY if one is each)
    before = up_to(stage.name)
    assert following(before, EVERY) is stage
    for result in (Result("failed", ("why",)), None):  # failed, or cut off while it ran
        stopped = begun(before, stage, "t", ["x"])
        if result is not None:
            stopped = ended(stopped, stage, result, when="t", settings="other")
        kept = parsed(text(stopped), "dev-westus2", simulated=False)
        assert kept == stopped
        assert following(kept, EVERY) is stage
    left = ended(before, stage, Result("left-out", ("why",)), when="t", settings="digest")
    assert following(left, EVERY) is not stage


def test_after_the_last_stage_there_is_none() -> None:
    assert following(up_to(""), EVERY) is None


def test_going_back_forgets_what_follows() -> None:
    back = back_to(up_to(""), EVERY, "cluster")
    assert following(back, EVERY) is EVERY[5]
    assert list(back.entries) == ["login", "providers", "quota", "verdict", "preview"]


def test_the_page_has_a_row_for_each_stage() -> None:
    progress = ended(up_to("quota"), EVERY[2], Result("failed", ("a | b", "c")), when="t2", settings="digest")
    lines = page(progress, EVERY).splitlines()
    assert lines[0] == "# First contact of dev-westus2, on Azure"
    assert len(lines) == 4 + len(EVERY)
    assert lines[4] == "| Login and rights | passed | t1 | t2 | a b | – | – |"
    assert "a \\| b<br>c" in lines[6]
    assert "not begun" in lines[-1]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "Invalid JSON"),
        ("[]", "the file"),
        (text(up_to("quota"))[:200], "Invalid JSON"),
        (text(NEW).replace('"version": 1', '"version": 2'), "version: it is 2"),
        (text(NEW).replace("dev-westus2", "prod-westus2"), "it is about prod-westus2"),
        (text(NEW).replace("false", "true"), "stack"),
        (json.dumps({"stack": "dev-westus2", "simulated": False, "settings": "d", "entries": {"login": {}}}), "login"),
        (text(up_to("quota")).replace('"passed"', '"great"'), "state"),
    ],
)
def test_a_file_that_was_cut_or_edited_is_not_used(content: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        parsed(content, "dev-westus2", simulated=False)


def test_an_entry_without_a_begin_gets_the_time_of_its_end() -> None:
    left = ended(NEW, EVERY[0], Result("left-out", ("why",)), when="t", settings="digest")
    assert left.entries["login"] == Entry("left-out", "t", "t", remarks=("why",))
