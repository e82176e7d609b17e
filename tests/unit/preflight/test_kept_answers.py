"""Answers of Azure that are kept: for how long, of which questions, and what is read of files that are not theirs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.subscription.answers import Unanswered
from workbench.preflight.kept_answers import Kept
from workbench.preflight.questions import QUESTIONS, hours

START = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC)
BASE = "/subscriptions/1"
SIZES, RIGHTS = f"{BASE}/providers/Microsoft.Compute/skus", f"{BASE}/providers/Microsoft.Authorization/permissions"


class Azure:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.refuses = False

    def __call__(self, address: str, parameters: Mapping[str, str]) -> Any:
        self.asked.append(address)
        if self.refuses:
            raise Unanswered("no")
        return {"value": [len(self.asked)], "parameters": dict(parameters)}


def kept(azure: Azure, folder: Path, after: float = 0, *, fresh: bool = False) -> Kept:
    return Kept(azure, folder, fresh, lambda: START + datetime.timedelta(hours=after))


def test_an_answer_is_asked_once_and_used_by_the_next_command(tmp_path: Path) -> None:
    azure = Azure()
    first = kept(azure, tmp_path)
    assert first(SIZES, {}) == first(SIZES, {})
    assert (len(azure.asked), first.oldest) == (1, None)
    second = kept(azure, tmp_path, 2)
    assert second(SIZES, {})["value"] == [1]
    assert (len(azure.asked), second.oldest) == (1, START)


def test_nobody_else_can_read_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    replace = Path.replace

    def replaced(file: Path, target: Path) -> Path:
        modes.append(file.stat().st_mode & 0o777)
        return replace(file, target)

    monkeypatch.setattr(Path, "chmod", None)
    monkeypatch.setattr(Path, "replace", replaced)
    kept(Azure(), tmp_path)(SIZES, {})
    assert modes == [0o600]


@pytest.mark.parametrize(("after", "fresh"), [(25.0, False), (-1.0, False), (1.0, True)])
def test_an_answer_that_is_old_of_the_future_or_not_wanted_is_asked_anew(
    tmp_path: Path, after: float, fresh: bool
) -> None:
    azure = Azure()
    kept(azure, tmp_path)(SIZES, {})
    again = kept(azure, tmp_path, after, fresh=fresh)
    assert again(SIZES, {})["value"] == [2]
    assert again.oldest is None


def test_other_parameters_are_another_question(tmp_path: Path) -> None:
    azure = Azure()
    found = kept(azure, tmp_path)
    found(SIZES, {"$filter": "a"})
    assert found(SIZES, {"$filter": "b"})["parameters"] == {"$filter": "b"}
    assert len(azure.asked) == 2


def test_rights_and_quotas_are_asked_each_time(tmp_path: Path) -> None:
    azure = Azure()
    kept(azure, tmp_path)(RIGHTS, {})
    kept(azure, tmp_path)(RIGHTS, {})
    assert len(azure.asked) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"asked": 7}', '{"asked": "x", "question": "y", "answer": 1}', "\x00"]
)
def test_a_file_that_is_not_readable_is_no_answer(tmp_path: Path, text: str) -> None:
    azure = Azure()
    kept(azure, tmp_path)(SIZES, {})
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    assert kept(azure, tmp_path)(SIZES, {})["value"] == [2]


def test_a_refusal_is_not_kept_and_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    azure = Azure()
    azure.refuses = True
    with pytest.raises(Unanswered):
        kept(azure, tmp_path)(SIZES, {})
    assert list(tmp_path.iterdir()) == []
    azure.refuses = False
    (tmp_path / "file").write_text("")
    assert kept(azure, tmp_path / "file" / "below")(SIZES, {})


def test_only_its_owner_reads_what_is_kept(tmp_path: Path) -> None:
    kept(Azure(), tmp_path)(SIZES, {})
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_pages_of_a_list_are_kept_like_the_list() -> None:
    assert hours(f"https://management.azure.com{SIZES}?$skiptoken=2") == 24
    assert hours(RIGHTS) == 0
    assert all(each.right and each.without and each.request.split(" ")[0] in ("GET", "POST") for each in QUESTIONS)
