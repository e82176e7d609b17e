"""Writing of a new stack's files: all of them or none, after validation in a copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path as FilePath

from physical_ai.repository import PROJECT_FILE, is_team_project
from physical_ai.settings.layers.names import STACKS
from physical_ai.settings.loaded import Loaded
from physical_ai.settings.loading import load
from physical_ai.settings.new_stack.files import NewFiles


class AlreadyExists(Exception):
    """Raised if one of a new stack's files exists already, because another process has created it meanwhile. No file
    was written.
    """


def verified(stack: str, files: NewFiles, root: FilePath = STACKS) -> Loaded:
    """Validates the new files in a temporary copy of the stacks folder; returns the loaded stack with its warnings.

    Raises SettingsError if the new stack has faults.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = FilePath(shutil.copytree(root, FilePath(folder) / root.name, symlinks=True))
        if is_team_project(root.parent):  # the platform's layers are below the copy, too
            shutil.copy(root.parent / PROJECT_FILE, folder)
        for path, text in files.texts.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_text(text, encoding="utf-8")
        return load(stack, root=copy)


def write(files: NewFiles, root: FilePath = STACKS) -> list[FilePath]:
    """Writes each file atomically, without overwriting, and returns the paths. If one file fails, the files already
    written are removed.

    Raises:
        AlreadyExists: one of the files exists.
        OSError: the folder can't be written.
    """
    made: list[FilePath] = []
    waiting: list[FilePath] = []
    try:
        for path, text in files.texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=(root / path).parent, prefix=".new-")
            waiting.append(FilePath(draft))
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            waiting[-1].chmod(0o644)
        for path, draft in zip(files.texts, waiting, strict=True):
            # A link, unlike a rename, never replaces an existing file.
            os.link(draft, root / path)
            made.append(root / path)
    except FileExistsError as error:
        _remove(made)
        raise AlreadyExists(f"{error.filename2} already exists") from None
    except BaseException:
        _remove(made)
        raise
    finally:
        _remove(waiting)
    return made


def _remove(paths: list[FilePath]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
