"""Which pages are made of what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generator import catalogue, commands, outputs, settings, troubleshooting
from physical_ai.osmo.lint import document as lint
from physical_ai.policies import document as policies
from physical_ai.readiness import document as readiness
from physical_ai.repository import ROOT

_FOLDER = ROOT / "docs" / "reference"


def _gates() -> str:
    return readiness.renewed(readiness.FILE.read_text(encoding="utf-8"))


OWN: Mapping[Path, Callable[[], str]] = {
    _FOLDER / "settings.md": settings.document,
    _FOLDER / "catalogue.md": catalogue.document,
    _FOLDER / "commands.md": commands.document,
    _FOLDER / "outputs.md": outputs.document,
    troubleshooting.FILE: troubleshooting.renewed,
}
"""The text of each page that is made here."""

PAGES: Mapping[Path, Callable[[], str]] = {
    **OWN,
    lint.FILE: lint.document,
    policies.FILE: policies.document,
    readiness.FILE: _gates,
}
"""Those and the pages that other packages make. What tests make of themselves is theirs: the GRID agent's two pages."""


def stale() -> list[Path]:
    """Pages that say something else than the code."""
    return [path for path, text in PAGES.items() if not path.is_file() or path.read_text(encoding="utf-8") != text()]


def write() -> list[Path]:
    """Writes the stale pages, and names them."""
    behind = stale()
    for path in behind:
        path.write_text(PAGES[path](), encoding="utf-8")
    return behind
