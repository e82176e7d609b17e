"""Pinned Python packages of a requirements file, with the packages that need each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]+))?")
_NEEDED_BY = re.compile(r"\s+#\s+(?:via\s+)?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\b(?P<rest>.*)")


class Pin(NamedTuple):
    """A pinned package.

    Attributes:
        marker: condition under which it is installed, such as `sys_platform == 'win32'`; empty without one.
        needed_by: names of the packages that require it.
    """

    name: str
    version: str
    marker: str
    needed_by: tuple[str, ...]


def pins(file: Path) -> list[Pin]:
    """Packages that `uv pip compile` has pinned in `file`, in their order."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_pin(block.splitlines()) for block in blocks if block and block[0].isalnum()]


def _pin(lines: list[str]) -> Pin:
    found = _PIN.match(lines[0])
    if found is None:
        raise ValueError(f"'{lines[0]}' pins no package")
    return Pin(found["name"].lower(), found["version"], (found["marker"] or "").strip(), tuple(_needed_by(lines[1:])))


def _needed_by(lines: list[str]) -> Iterator[str]:
    for line in lines:
        found = _NEEDED_BY.fullmatch(line)
        if found and found["name"] != "via" and not found["rest"].strip().startswith("requirements"):
            yield found["name"].lower()
