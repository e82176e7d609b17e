"""The list of a team's own parts, in its project."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from yaml import YAMLError

from physical_ai import safe_yaml
from physical_ai.catalog.reading import unreadable
from physical_ai.input_errors import PartError

LIST = "parts.yaml"
"""File in the folder `parts` of a team's project, with the names of the team's own parts."""


def team_names(folder: Path) -> list[str]:
    """Names in a project's list of its own parts, in the order in which they are declared; empty for a project without
    a list.

    Raises:
        PartError: The file is no list of names.
    """
    file = folder / LIST
    if not file.is_file():
        return []
    try:
        names: Any = safe_yaml.load(file.read_text(encoding="utf-8"))
    except YAMLError as error:
        raise PartError(str(unreadable(file, error))) from None
    if isinstance(names, list) and all(isinstance(name, str) for name in cast("list[Any]", names)):
        return cast("list[str]", names)
    raise PartError(f"parts/{LIST}: a list of names of folders is expected.\n  Begin each line with '- ' and a name.")
