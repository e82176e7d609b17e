"""Pod templates that OSMO cannot merge: the refusal names the value in words of YAML, not in Python's."""

from __future__ import annotations

import datetime

import pytest

from workbench.osmo.merge import merge
from workbench.osmo.refusal import Refusal


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true or false"),
        (3, "a number"),
        (1.5, "a number"),
        ("x", "a text"),
        ([], "a list"),
        (datetime.date(2026, 11, 28), "a value of another kind"),
    ],
)
def test_a_map_over_another_value_names_what_it_is(value: object, words: str) -> None:
    with pytest.raises(Refusal, match=f"'limits' can't be set in {words}$"):
        merge({"resources": value}, {"resources": {"limits": {}}})


def test_an_item_without_a_name_to_read_is_named() -> None:
    with pytest.raises(Refusal, match="'env' can't be merged: an item is null, and not a map"):
        merge({"env": [None]}, {"env": [{"name": "A"}]})
