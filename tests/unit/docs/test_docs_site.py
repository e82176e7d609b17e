"""Every link works, on GitHub and on the site, and every page is part of the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.support.documentation import ROOT, anchors, links, name, pages


def is_broken(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    return not file.exists() or (bool(anchor) and file.suffix == ".md" and anchor not in anchors(file))


def test_every_link_works() -> None:
    assert [(name(page), target) for page in pages() for target in links(page) if is_broken(page, target)] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One heading, and more\n\n[a](#one-heading-and-more) [b](#other) [c](none.md) `[d](none.md)`\n")
    assert [target for target in links(page) if is_broken(page, target)] == ["#other", "none.md"]


def leaves(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for item in entry.values() if isinstance(entry, dict) else entry:
            yield from leaves(item)


def test_every_page_appears_once_in_the_site() -> None:
    listed = list(leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert len(listed) == len(set(listed))
    wanted = {name(page) for page in pages()}
    assert wanted - set(listed) == set(), "add the page to `nav` in mkdocs.yml"
    assert [path for path in listed if not (ROOT / path).is_file()] == []
