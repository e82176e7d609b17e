"""Recordings that are larger than a reader takes: what does not fit is left out and named, and the file can be read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from workbench.recordings import fitting, reading
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.reading import Recording, read
from workbench.recordings.writing import write

OTHERS, THINGS = "/apis/y/v1/others", "/apis/x/v1/things"


def items(count: int, size: int) -> list[dict[str, Any]]:
    chance = random.Random(1)  # noqa: S311 - numbers that gzip cannot pack well
    return [
        {"metadata": {"name": f"a-{number}"}, "m": [chance.randrange(99) for _ in range(size)]}
        for number in range(count)
    ]


def recorded(folder: Path, *entries: Entry) -> Recording:
    file = folder / "it.gz"
    write(made([head("s", "2026-01-01T00:00:00Z", "p", simulated=False), *entries]), file)
    return read(file)


def listed(path: str, given: list[dict[str, Any]]) -> Entry:
    return {"kind": "list", "path": path, "items": given}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of readers that a test can exceed."""
    for module, name, value in (
        (reading, "MOST_TEXT", 100_000), (fitting, "MOST_TEXT", 100_000),
        (reading, "MOST_LINE", 20_000), (fitting, "MOST_LINE", 20_000), (fitting, "LINE", 10_000),
        (reading, "MOST_VALUES", 50_000), (fitting, "MOST_VALUES", 50_000),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("narrow")
def test_a_long_list_is_divided_into_lines(tmp_path: Path) -> None:
    found = recorded(tmp_path, listed(OTHERS, items(50, 400)))
    assert len(found.lists[OTHERS]) == 50
    assert sum(each["kind"] == "list" for each in found.entries) > 4


@pytest.mark.usefixtures("narrow")
def test_the_largest_list_is_left_out_whole_and_named(tmp_path: Path) -> None:
    found = recorded(tmp_path, listed(OTHERS, items(9, 100)), listed(THINGS, items(90, 500)))
    assert list(found.lists) == [OTHERS]
    [refused] = found.of("refused")
    assert refused["path"] == THINGS
    assert "more than a file holds" in found.entries[1]["unread"][0]


@pytest.mark.usefixtures("narrow")
def test_an_object_that_is_too_long_for_a_line_is_left_out(tmp_path: Path) -> None:
    found = recorded(tmp_path, listed(OTHERS, items(2, 10)), {
        "kind": "log", "namespace": "n", "pod": "p", "container": "c", "previous": False, "text": "x y " * 9000,
    })  # fmt: skip
    assert not list(found.of("log"))
    assert len(found.entries[1]["unread"]) == 1


@pytest.mark.usefixtures("narrow")
def test_many_small_values_are_left_out(tmp_path: Path) -> None:
    found = recorded(tmp_path, listed(OTHERS, items(3, 10)), listed(THINGS, items(500, 100)))
    assert list(found.lists) == [OTHERS]


def test_objects_without_names_are_no_list(tmp_path: Path) -> None:
    found = recorded(tmp_path, listed(THINGS, [{"metadata": {}}, {"metadata": {}}]), listed(OTHERS, items(1, 1)))
    assert list(found.lists) == [OTHERS]
    assert "have no names" in found.entries[1]["unread"][0]


@pytest.mark.deep  # in `make test`: long lists above
def test_objects_that_are_all_the_same_are_packed_less(tmp_path: Path) -> None:
    same = [{"metadata": {"name": f"a-{number}"}, "m": [1] * 4000} for number in range(400)]
    assert len(recorded(tmp_path, listed(OTHERS, same)).lists[OTHERS]) == 400
