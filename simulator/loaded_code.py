"""Comparison of a daemon's loaded code with the checkout's, by a note of the loaded files that is kept beside the
daemon's data.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from physical_ai.repository import is_own_module

DATA = "data"
"""Folder with the data that the modules beside this folder read."""
Stamp = list[int]
"""Time of the last change, and size; zeros where there is no such file."""


def note(file: Path) -> None:
    """Writes down which files of the project this process has loaded, with a stamp of each."""
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps({path: _stamp(path) for path in sorted(_loaded())}))
    unfinished.rename(file)


def has_changed(file: Path) -> bool:
    """True if a file has changed since the process noted that it had loaded it. Also True without a note, since a
    process of an earlier version has written none.
    """
    try:
        noted: dict[str, Stamp] = json.loads(file.read_text())
    except (OSError, ValueError):
        return True
    return any(_stamp(path) != stamp for path, stamp in noted.items())


def _loaded() -> Iterator[str]:
    """Paths of the project's loaded modules, and of the data files beside them."""
    modules = {found for module in list(sys.modules.values()) if (found := getattr(module, "__file__", None))}
    folders = {Path(path).parent for path in modules if is_own_module(path)}
    for folder in folders:
        yield from (str(path) for path in folder.glob("*.py") if str(path) in modules)
        yield from (str(path) for path in (folder / DATA).rglob("*") if path.is_file() and path.suffix != ".pyc")


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return [0, 0]
    return [found.st_mtime_ns, found.st_size]
