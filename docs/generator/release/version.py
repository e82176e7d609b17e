"""Version of a release: one line of the program's `pyproject.toml`, from which the other places are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.generator.release.problems import NotReleasable

SOURCE = "pyproject.toml"
"""File whose `version` is the version of all distributions."""
FOLLOWERS = ("workbench/pyproject.toml", "simulator/pyproject.toml")
"""Files that repeat the version: as their own, and in the requirements of one distribution on another."""
OWN = re.compile(r'^version = "(?P<version>[^"]*)"$', re.MULTILINE)
SIBLING = re.compile(r'"physical-ai(?:-\w+)?==(?P<version>[^"]*)"')
NUMBER = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
"""Form of a version: three numbers, and for a pre-release `a1`, `b1` or `rc1` (PEP 440)."""


class Place(NamedTuple):
    """A place that has a version: its file, the line's number, and the version."""

    file: str
    line: int
    version: str


def released(root: Path) -> str:
    """Version of all distributions of the checkout `root`.

    Raises NotReleasable if a file has no version, a version is none of a release, or two files differ.
    """
    own = _own(root, SOURCE)
    if NUMBER.fullmatch(own.version) is None:
        raise NotReleasable(
            f"{SOURCE}:{own.line}: version\n  '{own.version}' is not the version of a release.\n"
            "  Write three numbers, as in 1.2.3: make version VERSION=1.2.3"
        )
    for place in _following(root):
        if place.version != own.version:
            raise NotReleasable(
                f"{place.file}:{place.line}\n  It has {place.version}, and {SOURCE} has {own.version}.\n"
                f"  Write all of them: make version VERSION={own.version}"
            )
    return own.version


def require_number(version: str) -> None:
    """Raises NotReleasable if `version` has another form than a release's."""
    if NUMBER.fullmatch(version) is None:
        raise NotReleasable(f"VERSION={version}\n  It is not the version of a release.\n  Write three numbers: 1.2.3")


def write(root: Path, version: str) -> list[str]:
    """Writes `version` into all places of the checkout `root`. Returns the files that were changed.

    Raises NotReleasable if `version` has another form than a release's.
    """
    require_number(version)
    changed: list[str] = []
    for file in (SOURCE, *FOLLOWERS):
        path = root / file
        before = path.read_text(encoding="utf-8")
        after = SIBLING.sub(lambda found: _replaced(found, version), OWN.sub(f'version = "{version}"', before, count=1))
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(file)
    return changed


def _replaced(found: re.Match[str], version: str) -> str:
    begin = found.start("version") - found.start()
    return f'{found[0][:begin]}{version}"'


def _following(root: Path) -> Iterator[Place]:
    for file in FOLLOWERS:
        yield _own(root, file)
        text = (root / file).read_text(encoding="utf-8")
        yield from (_place(file, text, found) for found in SIBLING.finditer(text))


def _own(root: Path, file: str) -> Place:
    text = (root / file).read_text(encoding="utf-8")
    found = OWN.search(text)
    if found is None:
        raise NotReleasable(f'{file}\n  It has no version of its own.\n  Write below [project]: version = "1.2.3"')
    return _place(file, text, found)


def _place(file: str, text: str, found: re.Match[str]) -> Place:
    return Place(file, text.count("\n", 0, found.start()) + 1, found["version"])
