"""Errors while the module of an optional part is imported, as text with its file and line."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from physical_ai.catalog.reading import CatalogError
from physical_ai.repository import PARTS as FOLDER


class PartError(CatalogError):
    """A module of a part cannot be used. The text names its file, with the line or the constant, and what to write."""


@contextmanager
def readable_errors() -> Generator[None]:
    """Context for importing a module of a part.

    Raises:
        PartError: The import failed in a file of the part. The text has the file, the line and Python's own words. A
            CatalogError, whose text names a file already, is left as it is.
    """
    try:
        yield
    except CatalogError:
        raise
    except Exception as error:
        place = _place(error)
        if place is None:
            raise
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise PartError(f"{place}: {type(error).__name__}: {text}") from error


def _place(error: Exception) -> str | None:
    """Last step, in a part's folder, of the error's traceback, as file and line; None where no step is in such a
    folder.
    """
    steps = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        steps.append((error.filename, error.lineno))
    own = [(Path(file).relative_to(FOLDER), line) for file, line in steps if Path(file).is_relative_to(FOLDER)]
    found = [f"parts/{file}:{line}" for file, line in own if len(file.parts) > 1]
    return found[-1] if found else None
