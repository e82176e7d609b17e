"""Installation of all commands that the simulator runs: downloaded from releases if their checksums are known, else
built.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from simulator.tools import release
from simulator.tools.build import build
from simulator.tools.disk import writing
from simulator.tools.errors import BuildFailed
from simulator.tools.families import FAMILIES, Family, Progress, Report, locked
from simulator.tools.first_use import Record
from simulator.tools.transfer import NoRelease, Unreachable

VARIABLE = "PHYSAI_TOOLS_FROM"
CHECKSUMS = "checksums.json"
"""File in the cache with the checksums of downloads that no file of this repository pins."""


class Origin(StrEnum):
    """Way to obtain the commands: download of a release, build, or either."""

    AUTO = "auto"
    """Download of a release if its checksum is known and its server can be reached; a build in all other cases."""
    RELEASE = "release"
    BUILD = "build"

    @classmethod
    def of_environment(cls) -> Origin:
        """Origin that the environment variable $PHYSAI_TOOLS_FROM names; `auto` if it is not set.

        Raises:
            BuildFailed: the variable has an unknown value.
        """
        value = os.environ.get(VARIABLE) or cls.AUTO
        try:
            return cls(value)
        except ValueError:
            raise BuildFailed(f"{VARIABLE} is {value!r}; it can be {', '.join(cls)}") from None


@dataclass(frozen=True)
class Toolbox:
    """Folders in which the installed commands are."""

    folders: tuple[Path, ...]

    def path(self, command: str) -> Path:
        for folder in self.folders:
            if (folder / command).exists():
                return folder / command
        raise KeyError(command)


def quiet(progress: Progress) -> None:
    """Progress reporter that does nothing."""


def toolbox(
    cache: Path, report: Report = quiet, families: Sequence[Family] = FAMILIES, origin: Origin | None = None
) -> Toolbox:
    """Folders with all commands of `families`. Missing commands are first installed into `cache`.

    Raises:
        BuildFailed: a command can neither be downloaded nor built, or not in the way that `origin` requires.
    """
    source = _Source(cache, report, Origin.of_environment() if origin is None else origin)
    with writing(cache):
        # Downloads first: they take seconds, and a failed one is built with the others.
        downloaded = {family.name: source.download(family) for family in families}
        return Toolbox(tuple(downloaded[family.name] or source.build(family) for family in families))


@dataclass(frozen=True)
class Missing:
    """Families that `toolbox` would install, grouped by the way in which it would try to get them."""

    downloads: tuple[Family, ...]
    builds: tuple[Family, ...]


def missing(cache: Path, origin: Origin = Origin.AUTO) -> Missing:
    """Families of which `cache` lacks commands."""
    absent = [family for family in FAMILIES if _installed(family, cache, origin) is None]
    released = tuple(family for family in absent if origin is not Origin.BUILD and _is_released(family))
    return Missing(released, tuple(family for family in absent if family not in released))


def _is_released(family: Family) -> bool:
    try:
        release.known_release(family)
    except NoRelease:
        return False
    return True


def _installed(family: Family, cache: Path, origin: Origin) -> Path | None:
    """Folder that has all commands of the family and came from a source that `origin` allows; None if there is no such
    folder.
    """
    folders = {Origin.BUILD: _built(family, cache), Origin.RELEASE: _released(family, cache)}
    wanted = [folders[origin]] if origin in folders else list(folders.values())
    return next((folder for folder in wanted if _is_complete(family, folder)), None)


def _built(family: Family, cache: Path) -> Path:
    return cache / f"{family.name}-{family.version()}-{family.fingerprint()}"


def _released(family: Family, cache: Path) -> Path:
    return cache / f"{family.name}-{family.version()}-{release.this_platform()}"


def _is_complete(family: Family, folder: Path) -> bool:
    return all((folder / command).exists() for command in family.commands.values())


class _Source:
    """Installer of families for one call of `toolbox`, which remembers why a download failed."""

    def __init__(self, cache: Path, report: Report, origin: Origin) -> None:
        self._cache, self._report, self._origin = cache, report, origin
        self._reasons: dict[str, str] = {}
        self._unreachable: dict[str, str] = {}
        """Reason why each unreachable host is unreachable, by host name. These hosts are not tried again, because each
        try would wait for a timeout.
        """

    def download(self, family: Family) -> Path | None:
        """The family's folder, downloaded if need be; None if there is no usable release."""
        found = _installed(family, self._cache, self._origin)
        if found is not None or self._origin is Origin.BUILD:
            return found
        folder = _released(family, self._cache)
        try:
            wanted = release.known_release(family)
            if wanted.host in self._unreachable:
                raise NoRelease(self._unreachable[wanted.host])
            with self._alone(family):
                if not _is_complete(family, folder):
                    self._fetch(family, wanted, folder)
        except NoRelease as problem:
            if self._origin is Origin.RELEASE:
                raise BuildFailed(
                    f"{family.name} {family.version()} cannot be downloaded: {problem}.\n"
                    f"  `physai tools --from auto` builds it instead."
                ) from None
            self._reasons[family.name] = str(problem)
            return None
        return folder

    def _fetch(self, family: Family, wanted: release.Release, folder: Path) -> None:
        try:
            record = Record(self._cache / CHECKSUMS)
            release.download_release(family, wanted, folder, self._report, record)
        except Unreachable as problem:
            self._unreachable[wanted.host] = str(problem)
            raise

    def build(self, family: Family) -> Path:
        folder = _built(family, self._cache)
        with self._alone(family):
            if not _is_complete(family, folder):
                build(family, folder, self._cache, self._report, self._reasons.get(family.name, ""))
        return folder

    @contextmanager
    def _alone(self, family: Family) -> Generator[None]:
        """Lets one process at a time install a family, and removes what a killed one has left."""

        def waits(*, finished: bool) -> None:
            self._report(Progress(family.name, "wait", 0, 0, finished=finished))

        lock = self._cache / f"{family.name}.lock"
        with locked(lock, lambda: waits(finished=False), lambda: waits(finished=True)):
            for left in self._cache.glob(f".{family.name}-*"):
                shutil.rmtree(left, ignore_errors=True)
            yield
