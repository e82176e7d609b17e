"""Decision on which version of the program may deploy a stack that another version has deployed.

A deployment writes two versions into the stack's outputs: its own, and the oldest that may deploy the stack again. So
an older program refuses a stack without knowing the notes of later releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.releases.notes import Release, between, notes
from physical_ai.releases.versions import NotAVersion, Version, installed

OUTPUT = "program"
"""Name of the stack output with the two versions."""


def state_output(releases: Sequence[Release] | None = None, version: Version | None = None) -> dict[str, str]:
    """Value of the stack output about the program: its version, and the oldest version that may take its place."""
    now = version or installed()
    return {"version": str(now), "oldest": str(oldest(notes() if releases is None else releases, now))}


def oldest(releases: Sequence[Release], version: Version) -> Version:
    """Oldest version that may deploy a stack of `version`: the last release without a way back, else the first."""
    own = [each for each in releases if each.number <= version]
    closed = [each.number for each in own if not each.back.open]
    return max(closed, default=own[0].number if own else version)


def deployed_version(outputs: Mapping[str, Any]) -> Version | None:
    """Version that deployed a stack last, by its outputs; None if they name none."""
    return _version(outputs, "version")


def problem(
    outputs: Mapping[str, Any], releases: Sequence[Release] | None = None, version: Version | None = None
) -> str | None:
    """Reason, with advice, why the program must not deploy a stack with these outputs; None if it may.

    By default, the program is the installed one.
    """
    now, known = version or installed(), notes() if releases is None else releases
    was, least = _version(outputs, "version"), _version(outputs, "oldest")
    if was is None:
        return None
    if least is not None and now < least:
        return (
            f"version {was} deployed it, and versions before {least} cannot deploy it again; this is {now}.\n"
            f"  Install version {was}: requirements.txt."
        )
    return skipped(known, was, now)


def skipped(releases: Sequence[Release], old: Version, new: Version) -> str | None:
    """Reason, with advice, why `new` is too far from `old`: a release between them needs a later one than `old` to be
    deployed before. None if one step is enough.
    """
    for each in between(releases, old, new):
        if each.upgrade_from is not None and old < (least := Version.parse(each.upgrade_from)):
            return (
                f"an upgrade to {each.version} begins at version {least} or a later one; this is {old}.\n"
                f"  Upgrade to {least} first and deploy it: physai upgrade {least}"
            )
    return None


def _version(outputs: Mapping[str, Any], key: str) -> Version | None:
    found: Any = outputs.get(OUTPUT)
    text: Any = found.get(key) if is_mapping(found) else None
    try:
        return Version.parse(text) if isinstance(text, str) else None
    except NotAVersion:
        return None
