"""Edits of YAML texts: whatever the layout, the data is what was wanted, or nothing is changed."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.releases.notes import Rename
from physical_ai.releases.renames import Place, moved
from workbench.upgrade import yaml_text
from workbench.upgrade.yaml_text import NotEditable

KEYS = st.sampled_from(["a", "b", "c", "d"])
VALUES = st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from(["x", "true", "a: b", "#", "ä"]))
SECTIONS = st.dictionaries(KEYS, st.one_of(VALUES, st.lists(VALUES, max_size=2)), min_size=1)
TREES = st.dictionaries(KEYS, SECTIONS, min_size=1)


@given(TREES, st.booleans(), KEYS, KEYS, st.sampled_from(["n", "o"]))
def test_the_data_is_what_was_wanted_or_nothing_is_changed(
    tree: dict[str, dict[str, Any]], flow: bool, section: str, key: str, new: str
) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True, sort_keys=False, width=1000)
    if key not in tree.get(section, {}):
        return
    place = Place((section, key), ("d", new))
    wanted = moved(tree, Rename.model_validate({"from": "x", "to": "y", "until": "1.0.0"}), place)
    try:
        found = yaml_text.renamed(text, place.old, place.new, tree[section][key], wanted)
    except NotEditable:
        return
    assert yaml.safe_load(found) == wanted
