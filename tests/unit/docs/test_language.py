"""The check of the language: planted phrases are found, and texts beside them pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.cases import in_one_test
from tests.support.lint_language import findings, found_in, phrases

PLANTED = [
    "The driver is built anew.",
    "The next reset mends the GPU.",
    "The Pod runs all the same.",
    "This page is for who runs OSMO.",
    "# For who is on call",
    "The role is on the secret, likewise.",
    "Builds are newer, hence a warning.",
    "Submit it when it shall start.",
    "It gets no label of NVIDIA's. It has a taint.",
    "It needs no other right than the deploying identity has.",
    "It is for other jobs than these.",
    "A key stands twice in an object.",
    "If one did not, it would not start.",
    "The same holds for the subnet.",
    "The reason is told once.",
]
FINE = [
    "The driver is built again. Amendments are in a file.",
    "Nodes of all the same size.",
    "Those who run OSMO ask who reads it; for those who submit, who pays.",
    "One of NVIDIA's charts has a label of AKS's own.",
    "If one of them did not start, look at the log.",
    "The user is told what to do.",
]


@in_one_test("text", PLANTED)
def test_a_planted_phrase_is_found(text: str) -> None:
    [(words, phrase)] = found_in(text, phrases())
    assert words in text
    assert phrase.reason.endswith(".")
    assert phrase.instead


@pytest.mark.parametrize("text", FINE)
def test_texts_beside_a_phrase_pass(text: str) -> None:
    assert list(found_in(text, phrases())) == []


def test_every_row_has_a_planted_case() -> None:
    found = {phrase.pattern for text in PLANTED for _, phrase in found_in(text, phrases())}
    assert found == {each.pattern for each in phrases()}


@pytest.mark.parametrize(
    "name", ["docs/page.md", "CHANGELOG.md", "physical_ai/readiness/data/causes.yaml", "workbench/a.py"]
)
def test_a_planted_phrase_is_found_in_each_kind_of_file(name: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# One line.\n# It is built anew.\n")
    assert findings(tmp_path) == [f"{name}:2: 'anew': The common word is shorter. Write: again."]


def test_the_repository_has_none_of_the_phrases() -> None:
    assert findings() == []
