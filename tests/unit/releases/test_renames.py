"""Renamed settings and outputs: where data has them, their new values, and the time at which old names end."""

from __future__ import annotations

import pytest

from physical_ai.releases.notes import Rename
from physical_ai.releases.outputs import output_renames, with_former_names
from physical_ai.releases.renames import Place, former, in_force, moved, places
from tests.support.releases import FIRST, release, v

RENAME = {"from": "pools.*.size", "to": "machines.*.sku", "until": "0.4.0"}
SECOND = release("0.2.0", renamed=(RENAME,), outputs=(RENAME,))
(RENAMED,) = SECOND.renamed


def test_each_name_in_place_of_the_star_is_a_place_of_its_own() -> None:
    data = {"pools": {"a": {"size": 1}, "b": {"sku": 2}, "c": {"size": 3}}, "size": 4}
    assert list(places(RENAMED, data)) == [
        Place(("pools", "a", "size"), ("machines", "a", "sku")),
        Place(("pools", "c", "size"), ("machines", "c", "sku")),
    ]


def test_a_section_that_becomes_empty_goes_and_the_original_stays() -> None:
    data = {"pools": {"a": {"size": 1}}, "x": 0}
    (place,) = places(RENAMED, data)
    assert moved(data, RENAMED, place) == {"x": 0, "machines": {"a": {"sku": 1}}}
    assert data == {"pools": {"a": {"size": 1}}, "x": 0}


@pytest.mark.parametrize(
    ("value", "new"), [(True, "Always"), (1, 60), ("x", "x"), (None, None), (False, False), (2.5, 150.0)]
)
def test_values_are_converted_by_their_type(value: object, new: object) -> None:
    rename = release("0.2.0", renamed=[{**RENAME, "values": [{"from": True, "to": "Always"}], "times": 60}]).renamed[0]
    assert rename.converted(value) == new
    assert type(rename.converted(value)) is type(new)


@pytest.mark.parametrize(("version", "read"), [("0.1.0", False), ("0.2.0", True), ("0.3.9", True), ("0.4.0", False)])
def test_an_old_name_is_read_until_the_version_that_the_notes_say(version: str, read: bool) -> None:
    assert (in_force([FIRST, SECOND], v(version)) == [(SECOND, RENAMED)]) is read
    assert (output_renames([FIRST, SECOND], v(version)) == [(SECOND, SECOND.outputs[0])]) is read


def test_a_name_that_is_none_any_more_is_told_with_its_release() -> None:
    removed = release("0.3.0", removed=({"path": "a.b", "instead": "Nothing is needed."},))
    found = former(("pools", "x", "size"), [SECOND, removed])
    assert found is not None
    assert (found.problem, found.fix) == (
        "'size' was renamed in version 0.2.0.",
        "Write machines.x.sku; `physai upgrade` rewrites it.",
    )
    gone = former(("a", "b"), [SECOND, removed])
    assert gone is not None
    assert (gone.problem, gone.fix) == ("'b' was removed in version 0.3.0.", "Nothing is needed.")
    assert former(("pools", "x"), [SECOND, removed]) is None


def test_an_output_is_written_under_both_names() -> None:
    outputs = {"machines": {"a": {"sku": 1}, "b": {}}, "pools": {"a": {"nodes": 2}}}
    assert with_former_names(outputs, [(SECOND, SECOND.outputs[0])]) == {
        "machines": {"a": {"sku": 1}, "b": {}},
        "pools": {"a": {"nodes": 2, "size": 1}},
    }
    assert outputs["pools"] == {"a": {"nodes": 2}}


def test_a_rename_of_a_whole_section_takes_all_of_it() -> None:
    whole = Rename.model_validate({"from": "a.b", "to": "c", "until": "1.0.0"})
    assert moved({"a": {"b": {"x": 1, "y": 2}}}, whole, Place(("a", "b"), ("c",))) == {"c": {"x": 1, "y": 2}}
