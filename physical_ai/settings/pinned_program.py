"""Comparison of the version that runs with the version that a team's project pins."""

from __future__ import annotations

from pathlib import Path

from physical_ai.releases.versions import PIN, REQUIREMENTS, installed, pinned_version
from physical_ai.repository import PROJECT_NAME, is_team_project
from physical_ai.settings.faults import Fault, fault


def pin_faults(root: Path) -> list[Fault]:
    """Warning that another version runs than the one that the project of the stacks folder `root` pins; empty where
    they are the same, or where nothing is pinned.

    Keys of a later version are unknown to an older program, so the warning explains errors about them.
    """
    project = root.parent
    pinned = pinned_version(project) if is_team_project(project) else None
    if pinned is None or pinned == str(installed()):
        return []
    problem = f"The project pins version {pinned} of the platform, and version {installed()} runs."
    fix = "Run .venv/bin/physai, which `make` installs.  To another version: physai upgrade VERSION"
    line = _line(project)
    return [fault(REQUIREMENTS, PROJECT_NAME, problem, fix, line=line).as_warning()]


def _line(project: Path) -> int:
    lines = (project / REQUIREMENTS).read_text(encoding="utf-8", errors="replace").splitlines()
    return next(number for number, text in enumerate(lines, 1) if PIN.match(text))
