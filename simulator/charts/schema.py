"""The `values.schema.json` of a chart model. Helm refuses unknown keys because of this schema, while upstream's chart
ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from physical_ai.catalog.compat import key_table, known_keys
from physical_ai.catalog.compat.chart_rules import CHOICES
from physical_ai.catalog.compat.keys import Kind
from physical_ai.catalog.compat.tables import choices
from physical_ai.catalog.gpu_load import chart_key_notes
from physical_ai.catalog.gpu_lookup import version
from simulator.charts.files import OPERATOR

Json = dict[str, Any]
_SCALAR = ["string", "number", "boolean", "null"]
_GONE = ("dead", "removed")


def rendered_keys(chart: str, release: str) -> Mapping[str, Kind]:
    """Known value keys of a release, without keys that its templates never read."""
    return _operator_keys(release) if chart == OPERATOR else key_table(chart, release).known


def _operator_keys(release: str) -> dict[str, Kind]:
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


def values_schema(chart: str, release: str) -> Json:
    """JSON schema (draft 7) of a release's values.

    Unknown keys are refused, except inside maps and lists that the chart leaves open. A value's allowed texts are those
    that its consumer accepts: a custom resource's schema, or a program that takes the value as an argument.
    """
    schema = _section("object")
    enumerations = CHOICES if chart == OPERATOR else choices(chart)
    for path, kind in rendered_keys(chart, release).items():
        *sections, key = path.split(".")
        here = schema
        for name in sections:
            here = cast("Json", here["properties"].setdefault(name, _section(["object", "null"])))
        here["properties"][key] = _leaf(kind, enumerations.get(path))
    # Helm adds `global` to the values of a chart with a subchart.
    schema["properties"].setdefault("global", {"type": "object"})
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": f"{chart} {release}", **schema}


def _section(type_: str | list[str]) -> Json:
    return {"type": type_, "additionalProperties": False, "properties": {}}


def _leaf(kind: Kind, texts: tuple[str, ...] | None) -> Json:
    if kind == "list":
        return {"type": ["array", "null"]}
    if kind == "map":
        return {"type": ["object", "null"]}
    if texts:
        return {"enum": [*texts, None]}
    return {"type": _SCALAR}
