"""Which pages are made of what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import gates.document
import osmo_workflows.lint.document
import policies.document
from reference import catalogue, commands, outputs, settings, troubleshooting

ROOT = Path(__file__).resolve().parents[1]
_FOLDER = ROOT / "docs" / "reference"


def _gates() -> str:
    return gates.document.renewed(gates.document.FILE.read_text(encoding="utf-8"))


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
    osmo_workflows.lint.document.FILE: osmo_workflows.lint.document.document,
    policies.document.FILE: policies.document.document,
    gates.document.FILE: _gates,
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
