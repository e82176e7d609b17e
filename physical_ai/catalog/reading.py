"""Reading of the catalogue's data files, as strict as the reading of a user's files.

A fault in a data file is the project's fault, not the user's: it raises `CatalogError` with the file and row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from yaml import MarkedYAMLError, YAMLError

from physical_ai import safe_yaml
from physical_ai.catalog.row import Row
from physical_ai.input_errors import InputError
from physical_ai.repository import PROJECT, ROOT, part_files

_Row = TypeVar("_Row", bound=Row)


class CatalogError(InputError):
    """Raised where a data file of the catalogue is invalid."""


def file_label(path: Path) -> str:
    """Path of a file in messages: relative to the project or to the platform's modules, if it is in one of them."""
    return next((str(path.relative_to(folder)) for folder in (PROJECT, ROOT) if path.is_relative_to(folder)), str(path))


def unreadable(path: Path, error: YAMLError) -> CatalogError:
    """Error about a file that is not YAML, with the line where the parser stopped."""
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    problem = error.problem if isinstance(error, MarkedYAMLError) else str(error)
    return CatalogError(
        f"{file_label(path)}:{mark.line + 1 if mark else 1}: the file cannot be read as YAML: {problem}"
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The list of mappings in a data file."""
    try:
        return TypeAdapter(list[dict[str, Any]]).validate_python(_document(path))
    except ValidationError:
        raise CatalogError(
            f"{file_label(path)}: a list of mappings is expected.\n  Begin each row with '- ' and a key."
        ) from None


def read_all_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of the data file `path`, then rows of the files of the same name in the folders of parts. With each row
    comes the name of its file, for messages.
    """
    yield from ((path.name, each) for each in read_rows(path))
    for file in part_files(path.name):
        yield from ((f"parts/{file.parent.name}/{path.name}", each) for each in read_rows(file))


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping in a data file."""
    try:
        return TypeAdapter(dict[str, Any]).validate_python(_document(path))
    except ValidationError:
        raise CatalogError(f"{file_label(path)}: a mapping is expected.\n  Begin the file with a key.") from None


def _document(path: Path) -> Any:
    try:
        return safe_yaml.load(path.read_text(encoding="utf-8"))
    except YAMLError as error:
        raise unreadable(path, error) from error


def row(kind: type[_Row], data: Mapping[str, Any], where: str) -> _Row:
    """One row, made from `data` and checked against the row's class. Lists become tuples; nothing else is converted."""
    try:
        return kind.model_validate(_tuples(dict(data)))
    except ValidationError as error:
        raise CatalogError("\n".join(_sentences(error, kind, where))) from None


def _sentences(error: ValidationError, kind: type[Row], where: str) -> Iterator[str]:
    for each in error.errors(include_url=False):
        path, value = ".".join(map(str, each["loc"])), each["input"]
        if each["type"] == "missing":
            text = "The key is missing."
        elif each["type"] == "extra_forbidden":
            known = _keys_at(kind, each["loc"][:-1])
            near = get_close_matches(str(each["loc"][-1]), known, n=1)
            listed = f"\n  The keys are: {', '.join(known)}." if known else ""
            text = "There is no such key." + (f"\n  Did you mean '{near[0]}'?" if near else listed)
        else:
            given = f": {value!r}" if isinstance(value, str | int | float) else ""
            text = f"{each['msg'].removeprefix('Value error, ')}{given}."
        yield f"{where}: {path}\n  {text}" if path else f"{where}: {text}"


def _keys_at(kind: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """Allowed keys of the nested row at `path` within a row of type `kind`; empty if unknown."""
    if not path:
        return [field.alias or name for name, field in kind.model_fields.items()]
    field = next((own for name, own in kind.model_fields.items() if path[0] in (name, own.alias)), None)
    for model in _rows_in(field.annotation) if field is not None else ():
        # Between the field and the row there may be a place in a list, or the key of a mapping.
        for rest in (path[1:], path[2:]):
            if keys := _keys_at(model, rest):
                return keys
    return []


def _rows_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _rows_in(each)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in cast("list[Any]", value))
    return value
