"""Errors of the disk as sentences for a person: no space, no right to write, a file where a folder has to be.

Standard library only: the tools are installed before there are any Python packages.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

from physical_ai.repository import HOME_VARIABLE, user_folder

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
UNWRITABLE = FULL | FORBIDDEN
"""Error numbers of a full disk, and of a folder in which the user may not write."""
FULL_BYTES = 1 << 20
"""Free space below which a disk counts as full."""
OBSTRUCTED = frozenset({errno.EEXIST, errno.EISDIR, errno.ENOTDIR})
"""Error numbers of a path in which something is of another kind than it has to be."""
_TEMPORARY = "No usable temporary directory"
"""Beginning of the reason that Python gives when none of the folders for temporary files can be written."""
_OTHER_FOLDER = f"name a folder of your own with {HOME_VARIABLE}"


def sentence(problem: OSError, cache: Path | None = None, needed: str = "") -> str | None:
    """Text that says what is wrong with the disk, and what to do; None for an error that is not one of the disk.

    Args:
        cache: Folder in which files were to be written, for an error that names none. Obstacles are looked for there,
            or in the user's folder if it is None: elsewhere such an error would be a defect of this program.
        needed: Space that the operation needs, for the text about a full disk.
    """
    place = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, str | bytes) else cache
    number = _number(problem)
    if number in FULL:
        disk = cache or place or _full()
        where = f" for {disk}{_free(disk)}" if disk is not None else ""
        more = f": {needed}" if needed else ""
        other = f"{_OTHER_FOLDER}, on another disk" if disk is not None else "write to another disk"
        return f"there is no space left{where}{more}.\n  Free some, or {other}."
    if number is not None and number in FORBIDDEN:
        named = place if place is not None else "a file"
        fix = f"{_OTHER_FOLDER[:1].upper()}{_OTHER_FOLDER[1:]}, or make this one writable."
        can = "written" if number == errno.EROFS else "read or written"
        return f"{named} cannot be {can}: {os.strerror(number)}.\n  {fix}"
    if number in OBSTRUCTED and place is not None and place.is_relative_to(cache or user_folder()):
        found = _obstacle(place)
        return f"{found}.\n  Move it away, or {_OTHER_FOLDER}." if found else None
    if number == errno.ENOENT and place is cache and _TEMPORARY in str(problem.strerror):
        return f"{problem.strerror}.\n  Free some space there, or name a folder of your own with TMPDIR."
    return None


def _number(problem: OSError) -> int | None:
    """Number of an error; of the several errors of a copied folder, which have none, that of the first one."""
    if isinstance(problem, shutil.Error):
        found = re.search(r"\[Errno (\d+)\]", str(problem))
        return int(found[1]) if found else None
    return problem.errno


def _obstacle(place: Path) -> str | None:
    """Sentence about the first part of a path that is of the wrong kind; None if there is none."""
    for each in (*reversed(place.parents), place):
        if each.is_symlink() and not each.exists():
            return f"{each} is a link to {each.readlink()}, which does not exist"
        if each.exists() and not each.is_dir():
            return f"{each} is a file, and a folder has to be there"
    return f"{place} is a folder, and a file has to be there" if place.is_dir() else None


def _full() -> Path | None:
    """The user's folder, or the one for temporary files, if its disk is full; an error while writing names no file."""
    for each in (user_folder(), Path(os.environ.get("TMPDIR") or "/tmp")):  # noqa: S108 - only asked for its space
        if each.is_dir() and shutil.disk_usage(each).free < FULL_BYTES:
            return each
    return None


def _free(place: Path) -> str:
    for each in (place, *place.parents):
        if each.is_dir():
            return f" ({shutil.disk_usage(each).free / 1e6:.0f} MB are free)"
    return ""
