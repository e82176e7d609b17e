"""The program's labels of nodes: what follows from the table, and the page that lists them."""

from __future__ import annotations

import re

import pytest

from physical_ai.repository import DOCS
from physical_ai.settings import Overlay, Settings, SettingsError, load
from physical_ai.settings.facts.node_labels import KEYS, LABELS, own_labels
from physical_ai.settings.facts.telemetry import METRIC_LABELS
from physical_ai.settings.models.node_pools import Driver, DriverSource
from tests.support.cases import in_one_test

SOURCES = tuple(DriverSource)
AS_FOR = re.compile(r"the others as for `(\w+)`")


def settings() -> Settings:
    return load("dev-westus2").settings


def listed() -> dict[str, dict[str, str]]:
    """The labels that docs/settings.md lists, by driver source."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", (DOCS / "settings.md").read_text(), re.MULTILINE)
    found: dict[str, dict[str, str]] = {}
    for source, cell in rows:
        if source in {each.value for each in SOURCES} and source not in found:
            labels = dict(each.split("=", 1) for each in re.findall(r"`([^`]+=[^`]+)`", cell))
            others = AS_FOR.search(cell)
            found[source] = {**(found[others[1]] if others else {}), **labels}
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_the_page_lists_the_labels_of_each_driver_source(source: DriverSource) -> None:
    pool = settings().pools["h100gpu"].model_copy(update={"driver": Driver(source=source)})
    by_driver = {each.key for each in LABELS if each.by_driver}
    own = {key: value for key, value in own_labels("h100gpu", pool).items() if key in by_driver}
    assert listed()[source.value] == own


@in_one_test("key", sorted(KEYS))
def test_no_stack_sets_a_label_of_the_program(key: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load("dev-westus2", [Overlay("--set", {"pools": {"h100gpu": {"labels": {key: "mine"}}}})])
    assert f"'{key}' is set by the program" in str(refused.value)


def test_series_have_the_exported_labels() -> None:
    nodes = re.search(r"nodes=\[([^\]]*)\]", METRIC_LABELS)
    assert nodes is not None
    assert {each.key for each in LABELS if each.exported} <= set(nodes[1].split(","))


def test_each_label_is_in_the_table_once() -> None:
    assert len(KEYS) == len(LABELS)
