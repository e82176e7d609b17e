"""Reading of the catalogue's data files, as strict as the reading of a user's files.

A fault in a data file is the project's fault, not the user's: it raises `CatalogError` with the file and row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from yaml import MarkedYAMLError

from physical_ai import safe_yaml
from physical_ai.catalog.row import Row
from physical_ai.repository import PARTS, ROOT

_Row = TypeVar("_Row", bound=Row)


class CatalogError(Exception):
    """Raised where a data file of the catalogue is invalid."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The list of mappings in a data file."""
    rows = _document(path)
    try:
        return TypeAdapter(list[dict[str, Any]]).validate_python(rows)
    except ValidationError as error:
        raise CatalogError(f"{path.name}: a list of mappings is expected: {error}") from error


def read_all_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a data file, then of the files of the same name in the folders of parts; each with the name of its file
    for messages.
    """
    yield from ((path.name, each) for each in read_rows(path))
    for file in sorted(PARTS.glob(f"*/{path.name}")):
        yield from ((f"parts/{file.parent.name}/{path.name}", each) for each in read_rows(file))


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping in a data file."""
    data = _document(path)
    try:
        return TypeAdapter(dict[str, Any]).validate_python(data)
    except ValidationError as error:
        raise CatalogError(f"{path.name}: a mapping is expected: {error}") from error


def _document(path: Path) -> Any:
    try:
        return safe_yaml.load(path.read_text(encoding="utf-8"))
    except MarkedYAMLError as error:
        file = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise CatalogError(f"{file}:{line}: the file cannot be read as YAML: {error.problem}") from error


def row(kind: type[_Row], data: Mapping[str, Any], where: str) -> _Row:
    """One row, checked against its class. Lists become tuples; nothing else is converted."""
    try:
        return kind.model_validate(_tuples(dict(data)))
    except ValidationError as error:
        raise CatalogError(f"{where}: {error}") from error


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in cast("list[Any]", value))
    return value
