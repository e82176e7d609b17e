"""Edits of YAML texts: comments, order and layout stay, and a layout that is not known is left to a person."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.releases.notes import Rename
from physical_ai.releases.renames import Place, moved, without
from physical_ai.settings.layers.document import read_document
from tests.support.cases import in_one_test
from workbench.upgrade import yaml_text
from workbench.upgrade.yaml_text import NotEditable


def edited(text: str, old: str, new: str, *, value: Any = ...) -> str:
    """Text after a rename of one path, with the same value unless another is given."""
    data = read_document(text, "").data
    place = Place(tuple(old.split(".")), tuple(new.split(".")))
    kept: Any = data
    for key in place.old:
        kept = kept[key]
    now = kept if value is ... else value
    rename = Rename.model_validate({"from": old, "to": new, "until": "9.0.0", "values": ({"from": kept, "to": now},)})
    return yaml_text.renamed(text, place.old, place.new, now, moved(data, rename, place))


@in_one_test(
    ("text", "old", "new", "expected"),
    [
        ("# head\na:\n  b: 1  # why\n  c: 2\n", "a.b", "a.d", "# head\na:\n  d: 1  # why\n  c: 2\n"),
        ("a: {b: 1, c: 2}  # flow\n", "a.b", "a.d", "a: {d: 1, c: 2}  # flow\n"),
        ('a: {"b": [1, 2]}\n', "a.b", "a.d", "a: {d: [1, 2]}\n"),
        # To another section: with the comments above it, behind what the section has.
        (
            "x: 0\na:\n  # why\n  b: 1  # one\n  c: 2\nd:\n  e: 3\n# end\n",
            "a.b",
            "d.f",
            "x: 0\na:\n  c: 2\nd:\n  e: 3\n  # why\n  f: 1  # one\n# end\n",
        ),
        # The section becomes empty, and the new one does not exist.
        ("x: 0\na:\n  b:\n    - 1\n    - 2\ny: 1\n", "a.b", "c.d", "x: 0\ny: 1\nc:\n  d:\n    - 1\n    - 2\n"),
        ("x: 0\na:\n  b: |\n    one\n\n    two\n", "a.b", "c", "x: 0\nc: |\n  one\n\n  two\n"),
        ("a: {b: 1, c: 2}\nd: {e: 3}\n", "a.b", "d.f", "a: {c: 2}\nd: {e: 3, f: 1}\n"),
        ("a: {c: 2, b: 1}\nd: {e: 3}\n", "a.b", "d.f.g", "a: {c: 2}\nd: {e: 3, f: {g: 1}}\n"),
        ("a: {b: {c: 1}}\nd:\n  e: 3\n", "a.b.c", "d.f", "d:\n  e: 3\n  f: 1\n"),
        ("# about the file\na: 1\nb: {c: 2}\n", "a", "b.d", "# about the file\nb: {c: 2, d: 1}\n"),
        ("a: 1\n", "a", "b.c", "b:\n  c: 1\n"),
        ("a:\n  b: {x: 1,\n      y: 2}\n  c: 0\n", "a.b", "d", "a:\n  c: 0\nd: {x: 1,\n    y: 2}\n"),
        ("a: 1\nb: 2", "a", "c", "c: 1\nb: 2"),
    ],
)
def test_a_key_gets_another_name_and_place(text: str, old: str, new: str, expected: str) -> None:
    assert edited(text, old, new) == expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a: true  # why\n", "Always", "b: Always  # why\n"),
        ("a: 5\n", 300, "b: 300\n"),
        ("a: 'x'\n", "true", 'b: "true"\n'),
        ("a: 'x'\n", "1.36", 'b: "1.36"\n'),
        ("a: x\n", None, "b: null\n"),
    ],
)
def test_a_value_is_written_in_its_new_form(text: str, value: Any, expected: str) -> None:
    assert edited(text, "a", "b", value=value) == expected


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a:\n  b:\n    - 1\nd: {e: 3}\n", "a.b", "d.b"),
        ("a:\n  b: 1  # why\nd: {e: 3}\n", "a.b", "d.b"),
        ("a: 1\nd: text\n", "a", "d.b"),
    ],
    ids=["block into flow", "comment into flow", "no section"],
)
def test_another_layout_is_left_to_a_person(text: str, old: str, new: str) -> None:
    with pytest.raises(NotEditable):
        edited(text, old, new)


def test_a_line_goes_with_its_comment_and_an_empty_section() -> None:
    text = "a:\n  # of b\n  b: 1\nc: 2\n"
    assert yaml_text.without(text, ("a", "b"), without(read_document(text, "").data, ("a", "b"))) == "c: 2\n"


def test_an_edit_that_would_change_other_data_is_none() -> None:
    with pytest.raises(NotEditable):
        yaml_text.renamed("a: 1\nb: 2\n", ("a",), ("c",), 1, {"c": 1, "b": 3})
