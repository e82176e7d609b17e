"""The `values.schema.json` of a chart model: known keys only, so that helm refuses what upstream would ignore."""

from __future__ import annotations

from typing import Any, cast

from catalog.compat.chart import known_keys
from catalog.compat.chart_rules import CHOICES
from catalog.compat.keys import Kind
from catalog.gpu_load import chart_key_notes
from catalog.gpu_lookup import version

Json = dict[str, Any]
_SCALAR = ["string", "number", "boolean", "null"]
_GONE = ("dead", "removed")


def rendered_keys(release: str) -> dict[str, Kind]:
    """Keys that have an effect in a release: the known ones without those its templates never read."""
    here = version(release)
    gone = {
        path
        for note in chart_key_notes()
        if note.state in _GONE
        and (note.since is None or version(note.since) <= here)
        and (note.until is None or here <= version(note.until))
        for path in note.paths
    }
    return {path: kind for path, kind in known_keys(release).items() if path not in gone}


def values_schema(release: str) -> Json:
    """JSON schema (draft 7) of a release's values.

    Sections are closed; below a free map or list nothing is looked at, as in the chart. Enumerations are those of the
    ClusterPolicy, which would refuse the value later.
    """
    schema = _section("object")
    for path, kind in rendered_keys(release).items():
        *sections, key = path.split(".")
        here = schema
        for name in sections:
            here = cast("Json", here["properties"].setdefault(name, _section(["object", "null"])))
        here["properties"][key] = _leaf(path, kind)
    # Helm adds it to the values of a chart with a subchart; the subchart's is a key of its own.
    schema["properties"]["global"] = {"type": "object"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": f"gpu-operator {release}", **schema}


def _section(type_: str | list[str]) -> Json:
    return {"type": type_, "additionalProperties": False, "properties": {}}


def _leaf(path: str, kind: Kind) -> Json:
    if kind == "list":
        return {"type": ["array", "null"]}
    if kind == "map":
        return {"type": ["object", "null"]}
    if choices := CHOICES.get(path):
        return {"enum": [*choices, None]}
    return {"type": _SCALAR}
