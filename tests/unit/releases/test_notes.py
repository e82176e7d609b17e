"""Notes of releases: each version has its own, and a mistake in a file is told with its place."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from physical_ai.catalog.reading import CatalogError
from physical_ai.releases.notes import DATA, between, notes, notes_in
from physical_ai.repository import ROOT
from tests.support.releases import release, v

OWN = "version: 0.2.0\ndate: null\nupgradeFrom: 0.1.0\nsummary: x\nback: {open: true, text: y}\n"


def test_the_version_of_the_packages_has_notes_and_no_later_one_has() -> None:
    stated = {
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"].get("version")
        for folder in (".", "workbench", "simulator")
    }
    newest = notes_in(DATA)[-1].number
    assert stated - {None} <= {str(newest)}
    assert notes()[0].version == "0.1.0"


def test_every_release_but_the_first_says_from_where_it_is_reached() -> None:
    first, *later = notes_in(DATA)
    assert first.upgrade_from is None
    assert [each.version for each in later if each.upgrade_from is None] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWN.replace("0.2.0", "0.3.0"), "The file is of version 0.3.0: name it accordingly"),
        (OWN.replace("0.1.0", "one"), "'one' is not a version. Write three numbers"),
        (f"{OWN}renamed: [{{from: a, to: b, until: 1}}]\n", "renamed.0.until"),
        (f"{OWN}renamed: [{{from: a.*.b, to: c, until: 1.0.0}}]\n", "different numbers of the step `*`"),
        (f"{OWN}outptus: []\n", "Did you mean 'outputs'?"),
        (OWN.replace("back: {open: true, text: y}\n", ""), "The key is missing"),
    ],
)
def test_a_mistake_names_file_and_place(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "0.2.0.yaml").write_text(text)
    with pytest.raises(CatalogError, match=r"0\.2\.0\.yaml") as caught:
        notes_in(tmp_path)
    assert problem in str(caught.value)


def test_releases_between_two_versions_are_those_after_the_first() -> None:
    known = [release(each) for each in ("0.1.0", "0.1.1", "0.2.0", "0.3.0")]
    assert [each.version for each in between(known, v("0.1.0"), v("0.2.0"))] == ["0.1.1", "0.2.0"]
