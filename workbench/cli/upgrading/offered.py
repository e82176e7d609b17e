"""Versions of the platform that a folder of wheels, or the package index that pip uses, offers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from physical_ai.input_errors import InputError
from physical_ai.releases.versions import NotAVersion, Version
from physical_ai.repository import PROJECT_NAME
from workbench.cli.new_project.pip import PipFailed, pip

PIP_SECONDS = 120
_WHEEL = re.compile(rf"{PROJECT_NAME.replace('-', '_')}-([^-]+)-.*\.whl")


class NoSuchVersion(InputError):
    """Error for a version that is not offered, or if nothing is. The text says what is offered, or where to look."""


def chosen(wanted: str | None, wheels: Path | None) -> Version:
    """The version `wanted`, or the newest release that is offered. Raises NoSuchVersion.

    `wheels`: folder with wheels; None for the package index.
    """
    offered = _in_folder(wheels) if wheels is not None else _at_index()
    where = str(wheels) if wheels is not None else "the package index"
    if wanted is None:
        released = [each for each in offered if each == Version(*each[:3])]
        return max(released or offered)
    try:
        version = Version.parse(wanted)
    except NotAVersion as error:
        raise NoSuchVersion(f"{error}\n  Versions in {where}: {_listed(offered)}.") from None
    if version not in offered:
        raise NoSuchVersion(f"There is no version {version} in {where}.\n  Versions there: {_listed(offered)}.")
    return version


def _in_folder(folder: Path) -> list[Version]:
    if not folder.is_dir():
        raise NoSuchVersion(f"{folder} is not a folder.\n  Name the folder that has the wheels: --wheels DIR")
    names = [found[1] for each in folder.iterdir() if (found := _WHEEL.fullmatch(each.name))]
    if not (offered := _versions(names)):
        raise NoSuchVersion(f"{folder} has no wheel of {PROJECT_NAME}.\n  Name the folder that has the wheels.")
    return offered


def _at_index() -> list[Version]:
    instead = "  Name a folder that has the wheels of the version: --wheels DIR"
    try:
        said = pip("index", "versions", "--pre", "--disable-pip-version-check", PROJECT_NAME, seconds=PIP_SECONDS)
    except PipFailed as problem:
        raise NoSuchVersion(f"The package index offers no version of {PROJECT_NAME}: {problem}\n{instead}") from None
    listed = re.search(r"^Available versions: (.*)$", said, re.MULTILINE)
    if not listed or not (offered := _versions(listed[1].split(","))):
        raise NoSuchVersion(f"The package index offers no version of {PROJECT_NAME}.\n{instead}")
    return offered


def _versions(texts: Iterable[str]) -> list[Version]:
    found: set[Version] = set()
    for text in texts:
        try:
            found.add(Version.parse(text))
        except NotAVersion:
            continue
    return sorted(found)


def _listed(versions: list[Version]) -> str:
    return ", ".join(map(str, versions))
