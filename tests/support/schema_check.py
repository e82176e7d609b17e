"""Checks values against JSON Schema, draft 7, as far as the schemas of stack and layer files use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KNOWN = {
    *("$schema", "$comment", "title", "description", "default", "examples", "enumDescriptions", "definitions"),
    *("type", "enum", "pattern", "minimum", "maximum", "minLength", "items", "properties", "patternProperties"),
    "propertyNames",
    *("additionalProperties", "allOf", "anyOf", "$ref"),
}


def problems(value: Any, schema: Any, whole: Any, path: str = "") -> Iterator[str]:
    """Places of `value` that the schema does not allow. Raises AssertionError for a keyword that is not known here."""
    if schema is True:
        return
    assert set(schema) <= _KNOWN, f"unknown keywords: {set(schema) - _KNOWN}"
    if "$ref" in schema:
        yield from problems(value, whole["definitions"][schema["$ref"].removeprefix("#/definitions/")], whole, path)
    for each in schema.get("allOf", ()):
        yield from problems(value, each, whole, path)
    if "anyOf" in schema and all(list(problems(value, each, whole, path)) for each in schema["anyOf"]):
        yield f"{path}: fits none of {len(schema['anyOf'])}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is no choice"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{path}: {value!r} has another form"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        yield f"{path}: {value!r} is too short"
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{path}: {value} is out of range"
    yield from _inside(value, schema, whole, path)


def _inside(value: Any, schema: Any, whole: Any, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from problems(item, schema.get("items", True), whole, f"{path}[{index}]")
    if isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from problems(str(key), schema.get("propertyNames", True), whole, f"{path}.{key}")  # pyright: ignore[reportUnknownArgumentType]
            below = list(_below(str(key), schema))  # pyright: ignore[reportUnknownArgumentType]
            if not below:
                yield f"{path}.{key}: no such key"
            for each in below:
                yield from problems(item, each, whole, f"{path}.{key}")


def _below(key: str, schema: Any) -> Iterator[Any]:
    found = [schema["properties"][key]] if key in schema.get("properties", {}) else []
    found += [each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
    rest = schema.get("additionalProperties", True)
    yield from found or ([] if rest is False else [rest])


def _is(value: Any, types: Any) -> bool:
    names = [types] if isinstance(types, str) else types
    is_boolean = isinstance(value, bool)
    return any(isinstance(value, _TYPES[name]) and (name == "boolean" or not is_boolean) for name in names)
