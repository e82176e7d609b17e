"""Folder of a new project: the check that it is free, and the writing of the project's files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from physical_ai.releases import pinned_version
from physical_ai.repository import PROJECT_FILE, is_team_project
from workbench.cli.new_project.pins import version

KEPT = frozenset({".git"})
"""Names that the folder of a new project may already contain: `.git`, as in the clone of an empty repository."""
GIT_SECONDS = 60


def refusal(folder: Path) -> str | None:
    """Reason why no project is written into `folder`, with advice; None if `folder` has no entries besides KEPT."""
    if folder.exists() and not folder.is_dir():
        return f"{folder} is a file.\n  Name a folder that is empty, or that does not exist."
    found = sorted(each.name for each in folder.iterdir() if each.name not in KEPT) if folder.exists() else []
    if not found:
        return None
    if is_team_project(folder):
        return _older(folder, pinned_version(folder))
    if (folder / PROJECT_FILE).exists():
        return f"{folder} has another Pulumi project, of {PROJECT_FILE}.\n  Name a folder that is empty."
    listed = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    return f"{folder} is not empty: {listed}.\n  Name a folder that is empty, or that does not exist."


def _older(folder: Path, pinned: str | None) -> str:
    if pinned in (None, version()):
        return f"{folder} has a project of the platform already.\n  A new stack in it: physai stack new ENV-REGION"
    return (
        f"{folder} has a project of the platform's version {pinned} already; this is version {version()}.\n"
        "  `physai upgrade` there changes the version and says what differs; `init` writes new projects only."
    )


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes the files `texts` (content by path) into `folder`, which is created if it does not exist. All files are
    first written to a temporary folder; if that fails, `folder` gets none of them.

    Raises OSError if a file cannot be written.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        for path, text in texts.items():
            file = draft / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for entry in draft.iterdir():
            os.rename(entry, folder / entry.name)
        draft.rmdir()
    except BaseException:
        shutil.rmtree(folder if is_new else draft, ignore_errors=True)
        raise


def start_repository(folder: Path) -> str:
    """Makes `folder` a Git repository, unless it already belongs to one. Returns the reason for a
    failure; empty if there is none.
    """
    if shutil.which("git") is None:
        return "git is not installed, and `make pr-preview` needs it"
    inside = _git(folder, "rev-parse", "--is-inside-work-tree")
    if inside.returncode == 0:
        return ""
    made = _git(folder, "init", "--quiet", "--initial-branch=main")
    return f"git init failed: {made.stderr.strip()}" if made.returncode else ""


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))
