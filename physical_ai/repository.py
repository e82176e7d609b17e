"""Paths of the checkout's folders, and of the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

AGENTS = ROOT / "agents"
GRID_AGENT = AGENTS / "grid_driver"
"""Folder of the GRID driver agent: the package `grid_agent`, and the scripts that it runs on its host."""
STACKS = ROOT / "stacks"
VALUES = ROOT / "values"
PARTS = ROOT / "parts"
MANIFESTS = ROOT / "manifests"
DOCS = ROOT / "docs"
HOME_VARIABLE = "PHYSAI_HOME"


def user_folder() -> Path:
    """Folder for files that can be recreated: $PHYSAI_HOME, or `physical-ai` in the user's cache folder."""
    if given := os.environ.get(HOME_VARIABLE):
        return Path(given).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().resolve() / "physical-ai"
