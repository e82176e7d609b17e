"""New text of a project's requirements file: the platform's pins are exchanged, a team's own lines stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OWN = "# Of this project.\n"
"""Line above a team's own lines in the new file."""


def names(text: str) -> set[str]:
    """Names of the packages that a requirements file pins, in their normal form."""
    return {name for name, _ in _blocks(text) if name}


def exchanged(present: str, platform: str, known: Collection[str] = ()) -> str:
    """Requirements of another version of the platform, and the team's own pins and options of the present file, with
    the comments above them.

    Args:
        present: The file as it is.
        platform: The file as `physai init` of the other version writes it.
        known: Names of further packages that the present version of the platform pins.
    """
    theirs, options = names(platform) | {_normal(each) for each in known}, set(_options(platform))
    own = [block for name, block in _blocks(present) if name not in theirs and not (not name and block in options)]
    kept = "".join(own).removeprefix(OWN)
    return f"{platform}{OWN}{kept}" if kept else platform


def _options(text: str) -> Iterator[str]:
    return (block for name, block in _blocks(text) if not name)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Pins and options of a file, each with the comment lines above it. The name of an option is empty. Comments at the
    start of the file are about the file, and left out.
    """
    name, block, above = "", "", ""
    for line in f"{text.rstrip()}\n".splitlines(keepends=True):
        if line.startswith(("#", "\n")):
            above += line if line.strip() else ""
        elif line[0].isspace():
            block += line
        else:
            if block:
                yield name, block
            found = _NAME.match(line)
            name, block, above = _normal(found[0]) if found else "", above * bool(block) + line, ""
    if block:
        yield name, block


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned_hashes(text: str, wanted: Collection[str]) -> dict[str, str]:
    """SHA-256 of the packages `wanted` that a requirements file pins, by name. A package without a hash is left out."""
    found: dict[str, str] = {}
    for name, block in _blocks(text):
        if name in wanted and (digest := re.search(r"--hash=sha256:([0-9a-f]{64})", block)) is not None:
            found[name] = digest[1]
    return found
