"""Notes of each release, read from `data/VERSION.yaml`: what a team has to know, and what `physai upgrade` does.

Paths of settings and outputs are dotted; the step `*` stands for any name that the settings choose, such as a pool's.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from physical_ai.catalog.reading import CatalogError, file_label, read_mapping, row
from physical_ai.catalog.row import Row, Text
from physical_ai.releases.versions import NotAVersion, Version, installed

DATA = Path(__file__).parent / "data"
ANY = "*"
"""Step of a path that stands for any name."""


class ValueChange(Row):
    """New form of one value of a renamed setting."""

    old: Any = Field(alias="from")
    new: Any = Field(alias="to")


class Rename(Row):
    """A setting or an output with a new name. The old name is read, with a warning, before the version `until`."""

    old: Text = Field(alias="from")
    new: Text = Field(alias="to")
    until: Text
    """Version from which on the old name is refused, or no longer written."""
    values: tuple[ValueChange, ...] = ()
    """Values that the new name has in another form. Other values are taken over."""
    times: Annotated[int, Field(ge=1)] | None = None
    """Factor of a number whose unit is another one now, such as 60 for seconds in place of minutes."""

    def converted(self, value: Any) -> Any:
        """Value of the new name for a value of the old one."""
        for each in self.values:
            if type(each.old) is type(value) and each.old == value:
                return each.new
        if self.times is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
            return value * self.times
        return value


class Deprecation(Row):
    """A setting that still works, and that the version `until` refuses."""

    path: Text
    instead: Text
    """Sentence that says what to write instead."""
    until: Text


class Removal(Row):
    """A setting that is no more."""

    path: Text
    instead: Text
    """Sentence that says what to write instead, or why nothing is needed."""
    cut: bool = False
    """True if the line has no effect any more, so that the upgrade removes it. Otherwise the upgrade is refused while
    a file has it.
    """


class DeadKey(Row):
    """Key of a chart's values that the chart's new version does not read."""

    key: Text
    instead: Text


class ChartChange(Row):
    """Another version of a chart that stacks install by default."""

    chart: Text
    old: Text = Field(alias="from")
    new: Text = Field(alias="to")
    dead: tuple[DeadKey, ...] = ()


class Effect(Row):
    """Resources that the release replaces, deletes, renames or restarts in existing stacks, and the reason."""

    type: Text
    """Pulumi's type token; its end is enough, such as `AgentPool`."""
    name: Text = ANY
    """Name of the resource in the program; `*` for all of the type."""
    what: Literal["replaced", "deleted", "moved", "restarted"]
    why: Text


class Step(Row):
    """Step that a person has to do."""

    id: Text
    text: Text
    when: Literal["before", "after"]
    """Time of the step: before or after the deployment of the release."""
    required: bool = False
    """True if the upgrade is refused until the step is confirmed with `--done ID`."""


class Back(Row):
    """Way back from a release."""

    open: bool
    """True if the version before it can deploy a stack that the release has deployed."""
    text: Text


class Release(Row):
    """Notes of one release."""

    version: Text
    date: datetime.date | None
    """Day of the release; None before it."""
    upgrade_from: Text | None
    """Oldest version from which an upgrade goes in one step; None for the first release."""
    summary: Text
    renamed: tuple[Rename, ...] = ()
    deprecated: tuple[Deprecation, ...] = ()
    removed: tuple[Removal, ...] = ()
    outputs: tuple[Rename, ...] = ()
    charts: tuple[ChartChange, ...] = ()
    resources: tuple[Effect, ...] = ()
    steps: tuple[Step, ...] = ()
    back: Back

    @property
    def number(self) -> Version:
        return Version.parse(self.version)


@lru_cache
def notes() -> tuple[Release, ...]:
    """Notes of the releases up to the installed version, oldest first."""
    return tuple(each for each in notes_in(DATA) if each.number <= installed())


def notes_in(folder: Path) -> tuple[Release, ...]:
    """Notes of all releases in a folder, oldest first. Raises CatalogError where a file is wrong."""
    found = [_read(file) for file in folder.glob("*.yaml")]
    return tuple(sorted(found, key=lambda each: each.number))


def _read(file: Path) -> Release:
    where = file_label(file)
    release = row(Release, read_mapping(file), where)
    try:
        for text in _versions(release):
            Version.parse(text)
    except NotAVersion as error:
        raise CatalogError(f"{where}: {error}") from None
    if release.version != file.stem:
        raise CatalogError(f"{where}: version\n  The file is of version {release.version}: name it accordingly.")
    for each in (*release.renamed, *release.outputs):
        if each.old.split(".").count(ANY) != each.new.split(".").count(ANY):
            raise CatalogError(f"{where}: {each.old}\n  `from` and `to` have different numbers of the step `*`.")
    return release


def _versions(release: Release) -> Iterable[str]:
    yield release.version
    if release.upgrade_from is not None:
        yield release.upgrade_from
    yield from (each.until for each in (*release.renamed, *release.deprecated, *release.outputs))


def between(releases: Iterable[Release], old: Version, new: Version) -> list[Release]:
    """Releases after `old`, up to `new`, oldest first."""
    return [each for each in releases if old < each.number <= new]
