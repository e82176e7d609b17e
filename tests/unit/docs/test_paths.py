"""Every path that a page names exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.documentation import ROOT, name, pages, parts

TOP = (
    *("agents", "components", "docs", "manifests", "parts", "physical_ai", "simulator", "stacks", "tests", "values"),
    *("workbench", ".github"),
)
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(map(re.escape, TOP))})/[\w./*-]*")
GENERATED = {"stacks/charts.lock", "stacks/Pulumi.staging-eastus2.yaml", "parts/parts.yaml"}
"""Files that a command creates."""
PLACEHOLDER = re.compile(r"(?:.*/)?[A-Z]+(?:/.*)?")


def paths(page: Path) -> Iterator[str]:
    """Paths in the page's prose that are code and consist of a path only. Placeholders do not match."""
    for code in CODE.findall("\n".join(parts(page)[0])):
        if PATH.fullmatch(code) and not PLACEHOLDER.fullmatch(code):
            yield code


NAME = re.compile(r"[\w-]+\.(?:py|yaml)")


def names(page: Path) -> Iterator[str]:
    """Names of files, without a folder, in the page's prose."""
    for code in CODE.findall("\n".join(parts(page)[0])):
        if NAME.fullmatch(code):
            yield code


@cache
def known() -> frozenset[str]:
    """The names of all files of this repository."""
    folders = [ROOT / top for top in TOP]
    return frozenset(file.name for folder in [*folders, ROOT] for file in _files(folder, deep=folder != ROOT))


def _files(folder: Path, *, deep: bool) -> Iterator[Path]:
    return (file for file in (folder.rglob("*") if deep else folder.iterdir()) if file.suffix in {".py", ".yaml"})


def missing(path: str) -> bool:
    return path not in GENERATED and not any(ROOT.glob(path.rstrip("/")))


def test_every_path_exists() -> None:
    assert {(name(page), path) for page in pages() for path in paths(page) if missing(path)} == set()


def test_a_path_that_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`components/config.py` `components/nothing.py` `stacks/Pulumi.<stack>.yaml` `tests/unit/*` `docs/`\n"
    )
    assert [path for path in paths(page) if missing(path)] == ["components/nothing.py"]


def test_every_file_name_exists() -> None:
    assert {(name(page), file) for page in pages() for file in names(page) if file not in known()} == set()


def test_a_file_name_that_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`platform_azure.py` `platform.py` `base.yaml` `__main__.py` `no-file`\n")
    assert set(names(page)) - known() == {"platform_azure.py"}


NAMED = re.compile(rf"`(\w+)` in `({PATH.pattern}\.py)`")


def test_every_name_is_in_the_file_that_the_page_names() -> None:
    found = [(name(page), *each) for page in pages() for each in NAMED.findall("\n".join(parts(page)[0]))]
    assert [each for each in found if not re.search(rf"\b{each[1]}\b", (ROOT / each[2]).read_text())] == []


def test_the_architecture_names_functions() -> None:
    assert len(NAMED.findall((ROOT / "docs" / "architecture.md").read_text())) > 5
