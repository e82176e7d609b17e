"""Paths of the installed files, of the project that is worked on, and of the user's cache folder.

In a checkout of the platform, these files are the checkout's. In an installation, they are data of the package
`physical_ai`. The project is the folder of the Pulumi project whose stacks a command reads: the checkout itself, or a
team's own repository, in which the platform is a dependency.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""Folder of the platform's Python packages: the checkout, or the folder with installed packages."""
_DATA = ROOT / "physical_ai" / "installed"
INSTALLED = _DATA if _DATA.is_dir() else ROOT
"""Folder of the files that a distribution ships beside Python modules."""
IS_CHECKOUT = INSTALLED == ROOT
PACKAGES = ("physical_ai", "components", "parts", "workbench", "simulator")
"""Python packages of the distributions."""

PROJECT_NAME = "physical-ai"
"""Name of the Pulumi project, which is the prefix of its settings in a stack file."""
PROJECT_FILE = "Pulumi.yaml"
PROJECT_VARIABLE = "PHYSAI_PROJECT"
"""Environment variable with the path of the project's folder, for commands that run in a folder outside the project."""
HOME_VARIABLE = "PHYSAI_HOME"


def is_team_project(folder: Path) -> bool:
    """True for the folder of a project that uses the platform as a package; False for a checkout of the platform, and
    for a folder without a project.
    """
    return folder != INSTALLED and _is_project(folder) and not (folder / "physical_ai" / "repository.py").exists()


def find_project(start: Path, given: str = "") -> Path | None:
    """Folder of the project: `given` unless it is empty, otherwise the nearest project folder among `start` and its
    parents; None if there is none.

    A checkout of the platform is itself the project, unless the nearest project folder is a team's own.
    """
    if given:
        return Path(given).expanduser().resolve()
    nearest = next((folder for folder in (start, *start.parents) if _is_project(folder)), None)
    if IS_CHECKOUT and (nearest is None or not is_team_project(nearest)):
        return ROOT
    return nearest


def _is_project(folder: Path) -> bool:
    try:
        text = (folder / PROJECT_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(rf"^name:\s*[\"']?{PROJECT_NAME}[\"']?\s*(#.*)?$", text, re.MULTILINE) is not None


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was deleted
        return Path("/")


_FOUND = find_project(_current_folder(), os.environ.get(PROJECT_VARIABLE, ""))
HAS_PROJECT = _FOUND is not None
PROJECT = _FOUND or INSTALLED
"""Folder of the project. Without a project, this is the folder of the installed files, which contains layers, but no
stack.
"""
NO_PROJECT = (
    f"There is no project of the platform here: no {PROJECT_FILE} with the name {PROJECT_NAME} in this folder or above "
    "it."
)
NO_PROJECT_FIX = f"Change into its folder, name it with {PROJECT_VARIABLE}, or write one: physai init DIR"

AGENTS = INSTALLED / "agents"
GRID_AGENT = AGENTS / "grid_driver"
"""Folder of the GRID driver agent: the package `grid_agent`, and the scripts that it runs on its host."""
INSTALLED_STACKS = INSTALLED / "stacks"
"""Folder of the layers that come with the platform."""
STACKS = PROJECT / "stacks"
VALUES = PROJECT / "values"
PARTS = ROOT / "parts"
"""Folder of the platform's optional parts."""
PART_FOLDERS = (PARTS, *((PROJECT / "parts",) if is_team_project(PROJECT) else ()))
"""Folders that contain optional parts: the platform's folder, then the folder in a team's own project."""
MANIFESTS = INSTALLED / "manifests"
SCRIPTS = INSTALLED / ".github" / "scripts"
"""Folder of the scripts that workflows on GitHub run, the platform's own and a team's."""
DOCS = INSTALLED / "docs"


@lru_cache(maxsize=1)
def installed_label() -> str:
    """Name of the installed platform in messages about its files."""
    from importlib import metadata  # not loaded by each command

    return f"{PROJECT_NAME}-{metadata.version(PROJECT_NAME)}"


def part_folder(name: str) -> Path:
    """Folder of the part `name`, among the platform's parts or, if the platform has no such part, among the team's
    own.
    """
    return next((folder / name for folder in PART_FOLDERS if (folder / name).is_dir()), PARTS / name)


def part_files(pattern: str) -> list[Path]:
    """Files in the folders of parts, by a pattern of their name: the platform's, then a team's."""
    return [
        file
        for folder in PART_FOLDERS
        for file in sorted(folder.glob(f"*/{pattern}"))
        if part_folder(file.parent.name) == file.parent
    ]


def import_from_project() -> None:
    """Makes a team's own modules importable, as Pulumi's language host does for the folder of a program."""
    if is_team_project(PROJECT) and str(PROJECT) not in sys.path:
        sys.path.insert(0, str(PROJECT))


def is_own_module(file: str | Path) -> bool:
    """True for the file of a module of the platform or of a team's part; False for any other Python package."""
    path = Path(file)
    own = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
    return own or (PROJECT != ROOT and path.is_relative_to(PROJECT / "parts"))


def python_environment() -> dict[str, str]:
    """Environment variables with which another Python process finds the same modules and the same project."""
    own = {PROJECT_VARIABLE: str(PROJECT)} if HAS_PROJECT and PROJECT != ROOT else {}
    return {"PYTHONPATH": str(ROOT), **own}


def user_folder() -> Path:
    """Folder for files that can be recreated: $PHYSAI_HOME, or `physical-ai` in the user's cache folder."""
    if given := os.environ.get(HOME_VARIABLE):
        return Path(given).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().resolve() / "physical-ai"
