"""Renamed settings: which of them are in force, where data has them, and data with the present names.

>>> from physical_ai.releases.notes import Rename
>>> rename = Rename(old="pools.*.size", new="pools.*.sku", until="0.4.0")
>>> list(places(rename, {"pools": {"a": {"size": "s"}, "b": {}}}))
[Place(old=('pools', 'a', 'size'), new=('pools', 'a', 'sku'))]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.nested import is_mapping
from physical_ai.releases.notes import ANY, Deprecation, Release, Removal, Rename, notes
from physical_ai.releases.versions import Version, installed

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """One occurrence of a renamed setting: its path in the data, and the path of the present name."""

    old: Keys
    new: Keys


@dataclass(frozen=True)
class Former:
    """A name that is no setting any more, or will be none: the release that changed it, and what to write instead."""

    release: Release
    change: Rename | Removal
    path: Keys

    @property
    def problem(self) -> str:
        verb = "renamed" if isinstance(self.change, Rename) else "removed"
        return f"'{self.path[-1]}' was {verb} in version {self.release.version}."

    @property
    def fix(self) -> str:
        """Sentence that says what to write instead."""
        if isinstance(self.change, Removal):
            return self.change.instead
        return f"Write {'.'.join(renamed(self.change, self.path))}; `physai upgrade` rewrites it."


def in_force(releases: Sequence[Release] | None = None, version: Version | None = None) -> list[tuple[Release, Rename]]:
    """Renames whose old name is still read, each with its release. By default, those of the installed version."""
    now = version or installed()
    return [
        (release, each)
        for release in (notes() if releases is None else releases)
        for each in release.renamed
        if release.number <= now < Version.parse(each.until)
    ]


def deprecated(
    releases: Sequence[Release] | None = None, version: Version | None = None
) -> list[tuple[Release, Deprecation]]:
    """Settings that still work and that a later version refuses, each with the release that said so. By default, those
    of the installed version.
    """
    now = version or installed()
    return [
        (release, each)
        for release in (notes() if releases is None else releases)
        for each in release.deprecated
        if release.number <= now < Version.parse(each.until)
    ]


def places(rename: Rename, data: Mapping[str, Any]) -> Iterator[Place]:
    """Occurrences of the old name in settings."""
    for path in found(keys(rename.old), data):
        yield Place(path, renamed(rename, path))


def keys(path: str) -> Keys:
    return tuple(path.split("."))


def former_keys(change: Rename | Removal) -> Keys:
    """Pattern of the name that a release changed."""
    return keys(change.old if isinstance(change, Rename) else change.path)


def found(pattern: Keys, data: Any, above: Keys = ()) -> Iterator[Keys]:
    """Paths in nested data that a pattern with the step `*` fits."""
    if not pattern:
        yield above
    elif is_mapping(data):
        for key in list(data) if pattern[0] == ANY else [pattern[0]]:
            if key in data:
                yield from found(pattern[1:], data[key], (*above, key))


def renamed(rename: Rename, path: Keys) -> Keys:
    """Present path of a setting at the path `path`, which fits the old name."""
    names = iter(step for step, pattern in zip(path, keys(rename.old), strict=True) if pattern == ANY)
    return tuple(next(names) if step == ANY else step for step in keys(rename.new))


def is_set(data: Any, path: Keys) -> bool:
    """True if nested data has the path."""
    for key in path:
        if not is_mapping(data) or key not in data:
            return False
        data = data[key]
    return True


def moved(data: Mapping[str, Any], rename: Rename, place: Place) -> dict[str, Any]:
    """Copy of settings with the present name in place of the old one. Sections that become empty are removed."""
    rest, value = _without(data, place.old)
    return _with(rest, place.new, rename.converted(value))


def without(data: Mapping[str, Any], path: Keys) -> dict[str, Any]:
    """Copy of settings without the one at a path, and without the sections that become empty."""
    return _without(data, path)[0]


def _without(data: Mapping[str, Any], path: Keys) -> tuple[dict[str, Any], Any]:
    kept = dict(data)
    value = kept.pop(path[0])
    if len(path) == 1:
        return kept, value
    inner, value = _without(cast("Mapping[str, Any]", value), path[1:])
    if inner:
        # In its place, so that the order of keys stays.
        kept = {key: inner if key == path[0] else item for key, item in data.items()}
    return kept, value


def _with(data: Mapping[str, Any], path: Keys, value: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**data, path[0]: value}
    below = data.get(path[0])
    return {**data, path[0]: _with(below if is_mapping(below) else {}, path[1:], value)}


def former(path: Sequence[str | int], releases: Sequence[Release] | None = None) -> Former | None:
    """Change of a release that made the name at `path` none of the settings; None if there is no such change."""
    steps = tuple(map(str, path))
    for release in reversed(notes() if releases is None else releases):
        for change in (*release.renamed, *release.removed):
            pattern = former_keys(change)
            if len(pattern) == len(steps) and all(a in (ANY, b) for a, b in zip(pattern, steps, strict=True)):
                return Former(release, change, steps)
    return None
