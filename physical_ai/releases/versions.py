"""Versions of the platform: their order, the one that is installed, and the one that a project pins."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from physical_ai.repository import PROJECT_NAME

REQUIREMENTS = "requirements.txt"
PIN = re.compile(rf"^{PROJECT_NAME}==([^\s;\\]+)", re.MULTILINE)
"""Line of a requirements file that pins the platform's program, with its version as a group."""
_FORM = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:\.?(dev|a|b|rc)(\d+))?")
_STAGES = ("dev", "a", "b", "rc", "")
"""Stages of a version before its release, in their order; the empty one is the release itself."""


class NotAVersion(ValueError):
    """Error for a text that is no version of the platform. Its text says how to write one."""


class Version(NamedTuple):
    """A version. Versions compare in the order of their release.

    >>> Version.parse("0.2.0rc1") < Version.parse("0.2.0") < Version.parse("0.10.0")
    True
    """

    major: int
    minor: int
    patch: int
    stage: int = len(_STAGES) - 1
    number: int = 0

    @staticmethod
    def parse(text: str) -> Version:
        """Version from a text such as `0.2.0`, `v0.2.0` or `0.2.0rc1`. Raises NotAVersion."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise NotAVersion(f"'{text}' is not a version. Write three numbers, such as 0.2.0.")
        major, minor, patch, stage, number = found.groups()
        return Version(int(major), int(minor), int(patch), _STAGES.index(stage or ""), int(number or 0))

    def __str__(self) -> str:
        stage = _STAGES[self.stage]
        end = f"{'.' if stage == 'dev' else ''}{stage}{self.number}" if stage else ""
        return f"{self.major}.{self.minor}.{self.patch}{end}"


@lru_cache(maxsize=1)
def installed() -> Version:
    """Version of the program that runs."""
    return Version.parse(metadata.version(PROJECT_NAME))


def pinned_version(project: Path) -> str | None:
    """Version of the platform that a project's requirements file pins; None if the file is missing or pins none."""
    try:
        text = (project / REQUIREMENTS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = PIN.search(text)
    return found[1] if found else None
