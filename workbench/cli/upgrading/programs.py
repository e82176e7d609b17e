"""The platform's program in several versions on one machine: where each is, and how one is obtained.

A program is a folder with the platform's packages and their metadata. In front of this process' own packages, it is
the version that Python imports; third-party packages are this environment's, if they are those that the version pins,
and otherwise installed into the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from physical_ai.releases.versions import NotAVersion, Version, installed
from physical_ai.repository import PROJECT, PROJECT_NAME, ROOT, user_folder
from workbench.cli.new_project import pins
from workbench.cli.new_project.pip import PipFailed, pip

PIP_SECONDS = 1200
DEPLOY = Path("physical_ai/installed/requirements-deploy.txt")
"""File of a program's folder with the pins of the third-party packages."""


class NoProgram(Exception):
    """Error if a version of the platform cannot be obtained. The text says what to do."""


@dataclass(frozen=True)
class Program:
    """The platform's program in one version. `folder`: the folder from which Python imports it."""

    version: Version
    folder: Path

    def environment(self) -> dict[str, str]:
        """Environment variables with which Python imports this version."""
        return {**os.environ, "PYTHONPATH": str(self.folder)}


def present(version: Version) -> Program | None:
    """The program of a version that this machine has; None if it has none."""
    if version == installed():
        return Program(version, ROOT)
    return next((each for each in _on_this_machine() if each.version == version), None)


def _on_this_machine() -> Iterator[Program]:
    folders = [Path(sysconfig.get_paths()["purelib"])]
    folders += sorted((PROJECT / ".venv").glob("lib/python3*/site-packages"))
    folders += sorted(_versions().glob("*"))
    for folder in folders:
        if (version := version_in(folder)) is not None:
            yield Program(version, folder)


def version_in(folder: Path) -> Version | None:
    """Version of the platform whose packages a folder has; None if it has none, or only a link to a checkout."""
    if not (folder / "physical_ai" / "repository.py").is_file():
        return None
    for each in folder.glob(f"{PROJECT_NAME.replace('-', '_')}-*.dist-info"):
        try:
            return Version.parse(each.name.removesuffix(".dist-info").rpartition("-")[2])
        except NotAVersion:
            continue
    return None


def _versions() -> Path:
    return user_folder() / "versions"


def obtained(version: Version, hashes: Mapping[str, str], wheels: Path | None) -> Program:
    """The program of a version, which is installed into a folder of this user if this machine does not have it.

    Args:
        hashes: SHA-256 of the wheels, by distribution.
        wheels: Folder with the wheels; None for the package index that pip uses.

    Raises NoProgram.
    """
    digest = hashes[pins.DISTRIBUTIONS[-1]][:12]
    folder = _versions() / f"{version}-{digest}"
    if version_in(folder) == version:
        return Program(version, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        own = "".join(f"{name}=={version} --hash=sha256:{hashes[name]}\n" for name in pins.DISTRIBUTIONS)
        local = ("--find-links", str(wheels)) if wheels is not None else ()
        _install(own, draft, (*local, *(["--no-index"] if local else [])), f"version {version}")
        if (found := version_in(draft)) != version:
            raise NoProgram(f"The wheels of version {version} contain version {found}.")
        if missing := "".join(_missing(draft)):
            _install(missing, draft, local, f"the packages that version {version} needs")
        os.rename(draft, folder)
    except OSError as problem:
        raise NoProgram(f"{folder} cannot be written: {problem.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Program(version, folder)


def _missing(folder: Path) -> Iterator[str]:
    """Pins of the third-party packages that a program needs and this environment does not have in this version."""
    for name, block in pins.blocks((folder / DEPLOY).read_text(encoding="utf-8")):
        wanted = re.match(rf"{re.escape(name)}==([^\s;\\]+)", block, re.IGNORECASE)
        if name not in pins.FOR_BUILDS and wanted is not None and _installed(name) != wanted[1]:
            yield block


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _install(pinned: str, folder: Path, found: tuple[str, ...], what: str) -> None:
    """Installs pins with hashes into a folder. `found`: options that say where pip finds them. Raises NoProgram."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(pinned)
        file.flush()
        words = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--no-compile")
        try:
            pip(*words, "--target", str(folder), *found, "-r", file.name, seconds=PIP_SECONDS)
        except PipFailed as problem:
            raise NoProgram(f"{what} could not be installed: {problem}") from None
