"""The threats on the page about security: each has something that keeps it out. Tests that pages name exist."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from physical_ai.repository import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
TESTS = sorted(
    {
        name
        for page in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"`(tests/[^`]+\.py::\w+)`", page.read_text())
    }
)

OPEN = {"S-1", "T-1", "T-2", "I-2", "D-1", "D-3", "D-4", "E-1", "E-2", "E-3"}
"""Points with the status Open in microsoft/physical-ai-toolchain, docs/security/threat-model.md."""


@cache
def functions(file: str) -> set[str]:
    """Names of the tests of a module."""
    return {each.name for each in ast.parse((ROOT / file).read_text()).body if isinstance(each, ast.FunctionDef)}


def rows(heading: str) -> list[list[str]]:
    """Cells of the table under a heading, without its head."""
    table = [line for line in PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0].split("\n") if line[:1] == "|"]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def test_each_test_that_the_page_names_exists() -> None:
    assert TESTS
    assert [name for name in TESTS if name.partition("::")[2] not in functions(name.partition("::")[0])] == []


def test_the_table_has_each_point_that_the_reference_leaves_open() -> None:
    assert {cells[0].partition(",")[0] for cells in rows("Open points of a reference")} == OPEN


@pytest.mark.parametrize("heading", ["Open points of a reference", "Threats", "GPUs"])
def test_every_threat_has_a_test_that_shows_what_keeps_it_out(heading: str) -> None:
    found = rows(heading)
    assert len(found) >= 5
    for cells in found:
        assert all(cells), cells
        assert "::" in cells[-1], cells[0]
