"""Renamed outputs of a stack: both names are written until the version from which the old one is no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.releases.notes import Release, Rename, notes
from physical_ai.releases.renames import Keys, found, keys, renamed
from physical_ai.releases.versions import Version, installed


def output_renames(
    releases: Sequence[Release] | None = None, version: Version | None = None
) -> list[tuple[Release, Rename]]:
    """Renames of outputs whose old name is still written, each with its release. By default, those of the installed
    version.
    """
    now = version or installed()
    return [
        (release, each)
        for release in (notes() if releases is None else releases)
        for each in release.outputs
        if release.number <= now < Version.parse(each.until)
    ]


def with_former_names(
    outputs: Mapping[str, Any], renames: Sequence[tuple[Release, Rename]] | None = None
) -> dict[str, Any]:
    """Outputs, and the same values under their former names. Paths within a value that is itself known only after the
    deployment are left out: nothing can be read there yet.

    >>> from physical_ai.releases.notes import Rename
    >>> with_former_names({"a": {"new": 1}}, [(None, Rename(old="a.old", new="a.new", until="1.0.0"))])
    {'a': {'new': 1, 'old': 1}}
    """
    written = dict(outputs)
    for _, rename in output_renames() if renames is None else renames:
        back = rename.model_copy(update={"old": rename.new, "new": rename.old})
        for path in found(keys(back.old), outputs):
            _set(written, renamed(back, path), _at(outputs, path))
    return written


def _at(outputs: Mapping[str, Any], path: Keys) -> Any:
    value: Any = outputs
    for key in path:
        value = value[key]
    return value


def _set(outputs: dict[str, Any], path: Keys, value: Any) -> None:
    for key in path[:-1]:
        below = outputs.get(key)
        outputs[key] = dict(below) if is_mapping(below) else {}
        outputs = outputs[key]
    outputs[path[-1]] = value
