"""Files of a team's project that an upgrade reads and writes, and the state of its Git repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from physical_ai.input_errors import InputError
from physical_ai.releases.versions import NotAVersion, Version, pinned_version
from physical_ai.repository import PROJECT_FILE, is_team_project

GIT_SECONDS = 60
_SETTINGS = re.compile(r"stacks/(Pulumi\.[^/]+|layers/.+)\.yaml")


class NotUpgradable(InputError):
    """Error for a folder that cannot be upgraded. The text says what to do."""


def pinned(project: Path) -> Version:
    """Version that a team's project pins. Raises NotUpgradable."""
    if not is_team_project(project):
        raise NotUpgradable(
            f"{project} is not a team's project: a {PROJECT_FILE} of the platform beside no checkout of it.\n"
            "  Change into the project that `physai init` wrote."
        )
    text = pinned_version(project)
    if text is None:
        raise NotUpgradable(
            f"{project / 'requirements.txt'} pins no version of physical-ai.\n"
            "  Write the line physical-ai==VERSION with the version that the stacks run, and commit it."
        )
    try:
        return Version.parse(text)
    except NotAVersion as error:
        raise NotUpgradable(f"requirements.txt: physical-ai=={text}: {error}") from None


def require_git(project: Path, *, clean: bool) -> None:
    """Raises NotUpgradable unless the project is in a Git repository; with `clean`, also if it has changes that are not
    committed.
    """
    if shutil.which("git") is None:
        raise NotUpgradable("git is not installed, and it is the way back from an upgrade.\n  Install it.")
    done = _git(project, "status", "--porcelain", "--", ".")
    if done.returncode:
        raise NotUpgradable(f"{project} is in no Git repository, the way back.\n  git init, and commit all files.")
    changed = [line[3:] for line in done.stdout.splitlines()]
    if changed and clean:
        listed = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise NotUpgradable(f"There are changes that are not committed: {listed}.\n  Commit them, or git stash.")


def files_of(project: Path) -> list[str]:
    """Paths of the project's files: those that Git tracks or would track; without Git, all but hidden folders."""
    done = _git(project, "ls-files", "-coz", "--exclude-standard", "--", ".")
    if done.returncode == 0:
        return sorted({each for each in done.stdout.split("\0") if each and (project / each).is_file()})
    found = (each.relative_to(project) for each in project.rglob("*") if each.is_file())
    return sorted(each.as_posix() for each in found if not each.parts[0].startswith(".") or each.parts[0] == ".github")


def settings_files(project: Path) -> dict[str, str]:
    """Texts of the project's stack files and layers, by path."""
    return {path: _text(project / path) for path in files_of(project) if _SETTINGS.fullmatch(path)}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise NotUpgradable(f"{file} cannot be read: {problem}\n  Save it as UTF-8.") from None


def copy(project: Path, folder: Path, texts: Mapping[str, str]) -> None:
    """Copies the project's files into a folder, with other texts of some."""
    for path in files_of(project):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project / path, target)
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def write(project: Path, texts: Mapping[str, str]) -> None:
    """Writes new texts of files into a project: all of them, or none.

    Raises OSError if a file cannot be written; all files have their former texts then.
    """
    drafts: dict[Path, Path] = {}
    before: dict[Path, bytes | None] = {}
    try:
        for path, text in texts.items():
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=file.parent, prefix=".upgrade-")
            drafts[file] = Path(name)
            with os.fdopen(handle, "w", encoding="utf-8") as draft:
                draft.write(text)
            if file.exists():
                shutil.copymode(file, name)
            else:
                os.chmod(name, 0o644)
        for file, draft in drafts.items():
            kept = file.read_bytes() if file.exists() else None
            os.replace(draft, file)
            before[file] = kept
    except BaseException:
        for file, kept in before.items():
            if kept is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(kept)
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))
