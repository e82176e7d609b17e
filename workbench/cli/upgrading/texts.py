"""New texts of a project's files for another version: what `physai init` of this version writes, where the project has
it unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from physical_ai.releases.versions import Version
from workbench.cli.new_project import files as templates
from workbench.cli.new_project.pins import blocks, requirements, requirements_for_tests
from workbench.cli.upgrading.programs import DEPLOY, Program
from workbench.upgrade.requirements import exchanged

REQUIREMENTS, FOR_TESTS = "requirements.txt", "requirements-dev.txt"
_TEMPLATES = Path("workbench/cli/new_project/templates")
_WORDED = re.compile(r"@[A-Z]+@")


def pins(project: Path, hashes: Mapping[str, str], old: Program | None) -> dict[str, str]:
    """New texts of the requirements files: the pins of the version that runs, and the team's own.

    `old`: program of the version that is pinned now, which says which pins are its own; None if it is not here.
    """
    known = {name for name, _ in blocks(_text(old.folder / DEPLOY))} if old is not None else set[str]()
    return {
        REQUIREMENTS: exchanged(_text(project / REQUIREMENTS), requirements(hashes), known),
        FOR_TESTS: exchanged(_text(project / FOR_TESTS), requirements_for_tests(), known),
    }


def named_versions(project: Path, old: Version, new: Version) -> dict[str, str]:
    """New texts of the files that name the platform's version: calls of its workflows, and the README."""
    found: dict[str, str] = {}
    names = "|".join(re.escape(each) for each in templates.CALLED)
    called = re.compile(rf"(/\.github/workflows/[\w-]*(?:{names}))@v{re.escape(str(old))}(?=\s|$)", re.MULTILINE)
    for file in sorted((project / ".github" / "workflows").glob("*.y*ml")):
        text = called.sub(rf"\1@v{new}", before := _text(file))
        if text != before:
            found[file.relative_to(project).as_posix()] = text
    before = _text(project / "README.md")
    text = before.replace(
        f"pinned in `{REQUIREMENTS}` to version {old}.", f"pinned in `{REQUIREMENTS}` to version {new}."
    )
    return found | ({"README.md": text} if text != before else {})


def schemas(project: Path) -> dict[str, str]:
    """New texts of the project's JSON schemas for editors."""
    from physical_ai.settings.json_schema import schema_files

    paths = {f"stacks/{path}": text for path, text in schema_files().items()}
    return {path: text for path, text in paths.items() if _text(project / path) not in ("", text)}


def copied(project: Path, old: Program | None) -> tuple[dict[str, str], list[str]]:
    """New texts of the files that `physai init` copied and nobody changed since, and a sentence about each file that
    differs from both versions.
    """
    texts: dict[str, str] = {}
    by_hand: list[str] = []
    for path, name in templates.COPIED.items():
        before = _text(old.folder / _TEMPLATES / name) if old is not None else ""
        now = (templates.TEMPLATES / name).read_text(encoding="utf-8")
        present = _text(project / path)
        # A template with words, such as the README's, is a text of its own in each project.
        if not before or before == now or not present or _WORDED.search(now):
            continue
        if present == before:
            texts[path] = now
        elif present != now:
            by_hand.append(f"{path}: `physai init` writes another one now; compare it with that of a new project")
    return texts, by_hand


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
