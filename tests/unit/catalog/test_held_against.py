"""No pinned chart and no model of the simulator without a row that says what it was held against."""

from __future__ import annotations

from collections import Counter

import pytest

from docs.generator.held_against import document
from physical_ai import safe_yaml
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.held_against import Held, held
from physical_ai.repository import ROOT
from simulator.charts.crds import definitions
from simulator.charts.models import modelled
from simulator.scheduling import kai_names
from simulator.tools import FAMILIES
from tests.support.cases import in_one_test

SIMULATOR = ROOT / "simulator"
OWN = {"charts", "cluster", "control_plane", "controllers", "faults", "tools", "wire"}
"""Folders that model no program of others: charts have rows of their own, the rest is the simulator's own machinery."""


def names(kind: str) -> list[Held]:
    return [item for item in held() if item.kind == kind]


def test_each_pinned_chart_has_one_row() -> None:
    rows = Counter((item.name, version) for item in names("chart") for version in item.versions)
    assert rows == Counter(pinned_charts().keys())


def test_each_model_has_a_row() -> None:
    folders = {path.parent.name for path in SIMULATOR.glob("*/__init__.py")} - OWN
    assert {item.name for item in names("model")} == folders


@in_one_test("item", held(), ids=lambda item: f"{item.subject} {' '.join(item.versions)}")
def test_a_row_says_what_agrees_or_what_does_not(item: Held) -> None:
    assert item.agrees or item.differs
    assert item.kind != "chart" or item.versions


def test_the_policy_that_follows_a_standard_has_a_row() -> None:
    assert [item.name for item in names("policy")] == ["pod-security"]


def test_rows_name_the_versions_that_run() -> None:
    """The API server of the simulator and KAI's model are what their pins say, whatever they were when a row was
    written.
    """
    rows = {item.subject: item for item in held()}
    (kubernetes,) = [family for family in FAMILIES if family.name == "kubernetes"]
    assert rows["policy pod-security"].at.startswith(f"{kubernetes.version()},")
    assert rows["model scheduling"].at.startswith(f"{kai_names.VERSION} ")
    assert rows["model operators"].at == kai_names.VERSION


def test_the_row_of_the_plugin_counts_the_recorded_dialogues() -> None:
    recorded = safe_yaml.load((ROOT / "tests/simulator/recorded/kubernetes_plugin.yaml").read_text())
    (row,) = [item for item in held() if item.subject == "model kubernetes"]
    assert (row.repeated or "").startswith(f"{len(recorded['answers'])} dialogues recorded ")


@pytest.mark.parametrize("chart", modelled())
def test_the_page_about_chart_models_names_each_with_its_versions(chart: str) -> None:
    page = (ROOT / "docs/reference/chart-models.md").read_text()
    assert f"`{chart}`" in page
    assert [version for version in modelled()[chart] if version not in page] == []


def test_a_definition_that_a_row_calls_missing_is_not_in_the_model() -> None:
    named = 0
    for item in names("chart"):
        texts = [text for text in item.differs if "missing" in text or text.startswith("no ")]
        named += any("Network" in text for text in texts)
        for version in (each for each in item.versions if each in modelled().get(item.name, ())):
            kinds = [each["spec"]["names"]["kind"] for each in definitions(item.name, version)]
            assert [kind for kind in kinds for text in texts if kind in text.replace(",", " ").split()] == []
    assert named, "the rule has something to compare"


def test_the_page_says_of_each_comparison_whether_it_was_repeated() -> None:
    lines = [line for line in document().splitlines() if line.startswith("| `")]
    assert len(lines) == sum(len(item.versions) or 1 for item in held())
    unrepeated = sum(len(item.versions) or 1 for item in held() if item.repeated is None)
    assert sum(line.endswith("| no |") for line in lines) == unrepeated


@in_one_test("item", names("chart"), ids=lambda item: f"{item.name} {' '.join(item.versions)}")
def test_a_chart_of_which_the_tag_could_not_be_read_says_so(item: Held) -> None:
    """The pin's own facts and the row agree: without a tag, nothing was rendered at the pinned version."""
    unread = [version for version in item.versions if pinned_charts()[item.name, version].tag is None]
    republished = "again" in item.against
    assert not unread or republished or any("tag" in text for text in item.differs)
