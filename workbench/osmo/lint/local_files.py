"""Reader of the files that a workflow names by `localpath`, which OSMO's command line reads and sends."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

from physical_ai.untrusted import files
from workbench.osmo.lint import rules_file
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.source import Source


def content(local: str, source: Source, here: Path, folder: FilePath | None, root: FilePath | None) -> str:
    """The content of the file `local` that a workflow names; empty if the file cannot be read. A finding about a
    missing or unreadable file is added to `source`.

    Args:
        here: Path in the workflow at which the file is named.
        folder: Folder of the workflow; None if there is none.
        root: Folder that must contain the file. None stands for the Git repository around `folder`, or for `folder`
            itself if there is no repository.
    """
    if folder is None:
        return ""
    bound = root or files.repository(folder) or folder
    try:
        return files.read_text(_path(local, folder, bound, is_given=root is not None), within=bound)
    except files.NotText:
        return ""
    except files.Missing:
        source.add(rules_file.FILE_CONTENT, here, f"file {local} does not exist, seen from the workflow's folder")
    except files.Unreadable as problem:
        source.add(rules_file.FILE_CONTENT, here, f"{local}: {problem}")
    return ""


def _path(local: str, folder: FilePath, bound: FilePath, *, is_given: bool) -> FilePath:
    path = files.within(folder, local, bound)
    inner = os.path.realpath(folder)
    above = os.path.commonpath([os.path.realpath(path), inner]) != inner
    # A checkout has more than its commit: what tools and pipelines leave there has a dot before its name.
    if above and not is_given and files.is_hidden(path, bound):
        raise files.Unreadable("hidden files above the workflow's folder are read with --root only")
    return path
