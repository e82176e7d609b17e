"""Texts that are missing in a checkout before its version can be tagged: each with its file, and what to write."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.generator.release import changelog

ACTIONS = Path(".github/actions.toml")
NOTHING = "Nothing has been released yet"
"""Sentence that is true before the first release, and wrong with it."""
_UNDATED = re.compile(r"^date: null\b", re.MULTILINE)


def left(root: Path, version: str) -> Iterator[str]:
    """Texts that a person has to write in the checkout `root` before `version` can be tagged: file, problem, fix."""
    if not changelog.has_section(root, version):
        yield f"{changelog.FILE}\n  It has no section about {version}.\n  {dated(version)}"
    notes = notes_file(version)
    if not (root / notes).is_file():
        yield f"{notes}\n  `physai upgrade` has no notes of {version}.\n  Write them, as in the other files there."
    elif found := _UNDATED.search(text := (root / notes).read_text(encoding="utf-8")):
        line = text.count("\n", 0, found.start()) + 1
        yield f"{notes}:{line}: date\n  The notes have no day.\n  {dated(version)}"
    for file in (root / changelog.FILE, *sorted((root / "docs").glob("*.md"))):
        if (start := (text := file.read_text(encoding="utf-8")).find(NOTHING)) >= 0:
            where = f"{file.relative_to(root)}:{text.count(chr(10), 0, start) + 1}"
            yield f"{where}\n  It says '{NOTHING}'.\n  Write what is right once {version} is released."
    yield from _unconfirmed(root)


def dated(version: str) -> str:
    """Advice that names the command which writes the day of a release."""
    return f"Write the day of the release: make version VERSION={version} DAY=YYYY-MM-DD"


def notes_file(version: str) -> Path:
    """Path of the notes of a version in a checkout."""
    return Path("physical_ai/releases/data") / f"{version}.yaml"


def _unconfirmed(root: Path) -> Iterator[str]:
    """Actions of the workflows whose commit was not read at its tag."""
    if not (root / ACTIONS).is_file():
        return
    recorded: dict[str, dict[str, Any]] = tomllib.loads((root / ACTIONS).read_text(encoding="utf-8"))["actions"]
    for name, row in recorded.items():
        if not row.get("confirmed", True):
            ask = f"git ls-remote https://github.com/{name} 'refs/tags/{row['version']}*'"
            yield (
                f"{ACTIONS}: {name}\n  Nobody has compared the commit with the tag {row['version']}.\n"
                f"  `{ask}` has to print {row['commit']}; then remove `confirmed` there."
            )
