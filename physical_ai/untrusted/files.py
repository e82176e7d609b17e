"""Reading of files of unknown origin: regular files only, no links that lead outside, a limited size, UTF-8."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST = 4 * 1024 * 1024
"""Largest accepted file size in bytes. A Secret, which holds a workflow's file, may have a quarter of this size."""
_REPOSITORY = ".git"
"""Git's own folder, which is refused: it may contain a checkout's credentials, and no commit can contain it."""


class Unreadable(Exception):
    """Raised where a file can't be used. The message says why, and never shows the file's content."""


class NotText(Unreadable):
    """Raised where the file is not UTF-8."""


class Missing(Unreadable):
    """Raised where there is no such file."""


def read_text(path: Path, *, within: Path | None = None) -> str:
    r"""Text of a file, with line ends as \n.

    Args:
        within: the folder that has to contain the file once links are resolved; the file's own folder if omitted.

    Raises:
        Unreadable: the file is missing, no regular file, too large, or not UTF-8, or a link leads out of the folder.
    """
    try:
        return _bytes(path, within or path.parent).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise NotText("the file is not UTF-8 text") from error


def below(folder: Path, name: str) -> Path:
    """Path of a file whose name is relative to a folder. Raises Unreadable if the path is outside of the folder.

    Only the text of the path is checked, so the result does not reveal whether a file exists elsewhere.
    """
    parts = os.path.normpath(name).split(os.sep) if name else []
    if not parts or "\0" in name or os.path.isabs(name) or parts[0] == os.pardir:
        raise Unreadable("only files below the workflow's folder can be read")
    return folder / name


def repository(folder: Path) -> Path | None:
    """Root of the Git repository that contains a folder; None for a folder outside of repositories.

    A home folder that is itself a repository does not count, because it would contain all files of its user.
    """
    here = Path(os.path.realpath(folder))
    for parent in (here, *here.parents):
        if os.path.lexists(parent / _REPOSITORY):
            return None if parent in (Path.home(), Path(parent.anchor)) else parent
    return None


def within(folder: Path, name: str, root: Path) -> Path:
    """Path of the file `name`, which is relative to `folder` or absolute. Raises Unreadable if the path is not below
    `root`.

    Like `below`, the function does not access the file; links are resolved when the file is read.
    """
    if not name or "\0" in name:
        raise Unreadable("this names no file")
    bound = os.path.realpath(root)
    path = os.path.normpath(os.path.join(os.path.realpath(folder), name))
    if os.path.commonpath([path, bound]) != bound or path == bound:
        raise Unreadable(f"only files below {root} can be read")
    return Path(path)


def is_hidden(path: Path, root: Path) -> bool:
    """True if the name of the file, or of a folder between `root` and the file, begins with a dot. Such files hold
    settings and secrets of tools.
    """
    steps = os.path.relpath(os.path.realpath(path), os.path.realpath(root)).split(os.sep)
    return any(step.startswith(".") and step != os.pardir for step in steps)


def _bytes(path: Path, within: Path) -> bytes:
    try:
        real, root = os.path.realpath(path), os.path.realpath(within)
        if os.path.commonpath([real, root]) != root:
            raise Unreadable("the file is a link that leads out of its folder")
        if any(step.lower() == _REPOSITORY for step in os.path.relpath(real, root).split(os.sep)):
            raise Unreadable(f"files in {_REPOSITORY} are not read")
        # Without O_NONBLOCK, opening a pipe that nothing writes to would block.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Missing("the file does not exist") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"the file can't be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("this is not a regular file")
        if status.st_size > LARGEST:
            raise Unreadable(f"the file is larger than {LARGEST >> 20} MiB")
        # Files in /proc report size 0, but have content.
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(status.st_size)
    finally:
        os.close(descriptor)
