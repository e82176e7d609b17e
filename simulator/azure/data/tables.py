"""The recorded tables. Each table has the schema of one ARM type at one API version, unchanged from its source.

A table is a recording and is never edited: `recordings.json` has its source and its digest. `amendments.json` lists
values that a table lacks although another source has them, each with this source and its date. `api_versions.json`
lists all API versions of each type; only the versions that this project sends or that a rule depends on have a table.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

How = Literal["seen", "read", "believed"]
Table = Mapping[str, Mapping[str, Any]]
"""Body path → constraints: `type`, `enum`, `pattern`, `min`, `max`, `required`, `readOnly` …"""

_HERE = "simulator.azure.data"


@dataclass(frozen=True)
class Recording:
    """One file of `types/`, with its source."""

    file: str
    kind: str
    api_version: str
    source: str
    how: How
    date: str
    sha256: str


@dataclass(frozen=True)
class Amendment:
    """Values to add to a recorded enumeration, with their source."""

    kind: str
    api_version: str
    path: str
    values: tuple[str, ...]
    reason: str
    source: str
    how: How
    date: str


@cache
def recordings() -> tuple[Recording, ...]:
    rows = _load("recordings.json")
    names = ("file", "kind", "source", "how", "date", "sha256")
    return tuple(Recording(api_version=row["apiVersion"], **{name: row[name] for name in names}) for row in rows)


@cache
def amendments() -> tuple[Amendment, ...]:
    rows = _load("amendments.json")
    names = ("kind", "path", "reason", "source", "how", "date")
    return tuple(
        Amendment(api_version=row["apiVersion"], values=tuple(row["values"]), **{name: row[name] for name in names})
        for row in rows
    )


@cache
def published_versions() -> Mapping[str, tuple[str, ...]]:
    """ARM type → API versions in which it is published, oldest first."""
    return {kind: tuple(versions) for kind, versions in _load("api_versions.json")["types"].items()}


def recorded_versions(kind: str) -> tuple[str, ...]:
    """API versions of a kind for which a recorded table exists."""
    return tuple(sorted(row.api_version for row in recordings() if row.kind == kind))


@cache
def table(kind: str, api_version: str) -> Table:
    """A recorded table with its amendments. Raises `LookupError` if there is no recording."""
    rows = dict(base(kind, api_version))
    for each in amendments():
        if (each.kind, each.api_version) == (kind, api_version):
            rows[each.path] = amended(rows[each.path], each)
    return rows


def base(kind: str, api_version: str) -> Table:
    """A table as it was recorded, without amendments. Raises `LookupError` if there is no recording."""
    found = next((row for row in recordings() if (row.kind, row.api_version) == (kind, api_version)), None)
    if found is None:
        raise LookupError(f"there is no recording of {kind} at {api_version}, but at {recorded_versions(kind)}")
    return json.loads(_text(found))["properties"]


def amended(row: Mapping[str, Any], amendment: Amendment) -> dict[str, Any]:
    """Returns `row`, an entry of a recorded table, with the amendment's values added to its enumeration. If the entry
    is an array, the values are added to the enumeration of the array's elements.
    """
    changed = copy.deepcopy(dict(row))
    holder = changed.get("items", changed)
    holder["enum"] = sorted({*holder["enum"], *amendment.values})
    return changed


def edited() -> Iterator[str]:
    """Differences between the files of `types/` and `recordings.json`: changed digests, sources or API versions, and
    files that are not listed.
    """
    present = {each.name for each in files(_HERE).joinpath("types").iterdir() if each.name.endswith(".json")}
    for row in recordings():
        if row.file not in present:
            yield f"types/{row.file}: recordings.json has a row for it, and there is no such file"
            continue
        document = json.loads(_text(row))
        for name, said in (("source", row.source), ("apiVersion", row.api_version), ("name", row.kind)):
            if document.get(name) != said:
                yield f"types/{row.file}: {name} is {document.get(name)!r}, and {said!r} in recordings.json"
        if hashlib.sha256(_text(row).encode()).hexdigest() != row.sha256:
            yield (
                f"types/{row.file}: it is not what was recorded from {row.source}. A recording is not edited: restore"
                " it, and write a row of amendments.json with the source of what it lacks"
            )
    for name in sorted(present - {row.file for row in recordings()}):
        yield f"types/{name}: it has no row in recordings.json, which says where it comes from"


def _text(recording: Recording) -> str:
    return files(_HERE).joinpath("types", recording.file).read_text(encoding="utf-8")


def _load(name: str) -> Any:
    return json.loads(files(_HERE).joinpath(name).read_text(encoding="utf-8"))
