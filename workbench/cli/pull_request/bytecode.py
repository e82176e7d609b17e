"""Reuse of compiled Python files for a folder that git has just written, from a folder with the same sources."""

from __future__ import annotations

import os
import shutil
from importlib.util import cache_from_source
from pathlib import Path

PACKAGES = ("physical_ai", "components", "parts", "workbench", "simulator", "agents")


def take_bytecode(folder: Path, compiled: Path) -> None:
    """Copies the compiled Python files in `compiled` to `folder`, for all sources that are equal in both folders.

    Python accepts a compiled file only if its source has the recorded size and modification time. Therefore the source
    in `folder` gets the modification time of the equal source. Without compiled files, each process that starts would
    spend a second on compiling the checkout.

    The files of `folder` may come from anyone: links are not followed, and an existing `__pycache__` is not changed.
    """
    for package in PACKAGES:
        for name, folders, files in os.walk(folder / package):
            here = Path(name)
            if "__pycache__" in (*folders, *files):
                continue
            for file in sorted(file for file in files if file.endswith(".py")):
                _take(here / file, compiled / here.relative_to(folder) / file)


def _take(source: Path, twin: Path) -> None:
    kept, target = Path(cache_from_source(str(twin))), Path(cache_from_source(str(source)))
    # The compiled form of a file remains after the file has been moved.
    if source.is_symlink() or not kept.is_file() or not twin.is_file():
        return
    if twin.stat().st_size != source.stat().st_size:
        return
    if twin.read_bytes() == source.read_bytes():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(kept, target)
        changed = twin.stat()
        os.utime(source, ns=(changed.st_atime_ns, changed.st_mtime_ns))
