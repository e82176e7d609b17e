"""Comparison of the code that a daemon has loaded with the files on disk. The daemon notes its loaded files in a file
in its folder.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from physical_ai.repository import is_own_module

DATA = "data"
"""Name of the folders beside modules that contain the modules' data files."""
Stamp = list[int]
"""Stamp of a file: time of the last change, and size. Zeros if the file does not exist."""


def note(file: Path) -> None:
    """Writes a note to `file`: the paths of the project's files that this process has loaded, each with a stamp."""
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps({path: _stamp(path) for path in sorted(_loaded())}))
    unfinished.rename(file)


def has_changed(file: Path) -> bool:
    """True if any file has changed since the process loaded it. Also True if the note is missing: an earlier version of
    the process wrote no note.
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
