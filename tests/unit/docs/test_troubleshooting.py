"""Every symptom is in the index, which links to a cause and a fix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generator.troubleshooting import BEGIN, FILE, renewed
from physical_ai.readiness.causes import causes
from physical_ai.readiness.document import FILE as GATES
from tests.support.cases import in_one_test
from tests.support.documentation import anchors, links

SEARCHED = (
    "Init:0/1",
    "CUDA_ERROR_NO_DEVICE",
    "vkCreateDevice failed",
    "0/3 nodes are available",
    "drop-in config version",
    "401 Unauthorized",
    "There are no resources in platform",
    "osmo.nvidia.com/cleanup",
    "helm waits for KAI indefinitely",
    "kubelogin is not on PATH",
    "PropertyChangeNotAllowed",
)
"""Text that users search for."""


def index() -> Iterator[tuple[str, str]]:
    """Rows of the first table: the symptom, and the anchor of its section."""
    for line in FILE.read_text().partition("\n## ")[0].splitlines():
        if found := re.fullmatch(r"\| (.*) \| \[.*\]\(#(.*)\) \|", line):
            yield found[1], found[2]


def sections() -> dict[str, str]:
    """Sections by anchor."""
    parts = re.split(r"^### ", FILE.read_text().partition(BEGIN)[0], flags=re.MULTILINE)[1:]
    slugs = [re.sub(r"[^\w\- ]", "", part.partition("\n")[0].lower()).replace(" ", "-") for part in parts]
    return dict(zip(slugs, parts, strict=True))


@in_one_test("text", SEARCHED)
def test_text_that_users_search_for_is_in_the_index(text: str) -> None:
    rows = [anchor for seen, anchor in index() if text in seen]
    assert len(rows) == 1
    assert rows[0] in sections()


def test_the_index_links_to_every_section_once() -> None:
    assert sorted(anchor for _, anchor in index()) == sorted(sections())


@in_one_test("anchor", sections())
def test_a_section_has_a_cause_and_a_fix(anchor: str) -> None:
    text = sections()[anchor]
    assert text.index("**Cause.**") < text.index("**Fix.**")


def test_the_page_links_to_every_cause() -> None:
    assert {f"{GATES.name}#{cause}" for cause in causes()} - set(links(FILE)) == set()
    assert set(causes()) - set(anchors(GATES)) == set()


def test_a_page_without_marks_is_not_overwritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# No marks\n")
    monkeypatch.setattr("docs.generator.troubleshooting.FILE", tmp_path / "page.md")
    with pytest.raises(ValueError, match="has no"):
        renewed()
