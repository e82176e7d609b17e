"""Made-up notes of releases."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.reading import row
from physical_ai.releases.notes import Release
from physical_ai.releases.versions import Version


def release(version: str, upgrade_from: str | None = "0.1.0", **given: Any) -> Release:
    """Notes of a release with the given fields, in the form of the data files."""
    fields = {"version": version, "date": None, "upgradeFrom": upgrade_from, "summary": "A release."}
    return row(Release, {"back": {"open": True, "text": "Nothing more."}, **fields, **given}, version)


FIRST = release("0.1.0", None)


def v(text: str) -> Version:
    """The version of a text."""
    return Version.parse(text)
