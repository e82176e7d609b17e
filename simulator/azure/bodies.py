"""One resource in its three forms: Pulumi inputs, the ARM body, and the outputs of a preview."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

from physical_ai import nested
from simulator.azure.data import TypeMapping, schema
from simulator.wire import UNKNOWN

Json = dict[str, Any]
get = nested.at

API_VERSION_INPUT = "azureApiVersion"
"""Input that azure-native adds itself; it becomes part of the URL, not of the body."""


def to_body(mapping: TypeMapping, inputs: Mapping[str, Any]) -> Json:
    """The body of the resource's PUT, including the resource's own name, as ARM receives it.

    A null input counts as absent.
    """
    body: Json = {}
    for name, value in inputs.items():
        if value is None or name == API_VERSION_INPUT or name in mapping.path_params or name in mapping.input_only:
            continue
        at = mapping.inputs.get(name, f"properties.{name}")
        if at == "type" and mapping.inputs.get(name) is None:
            continue
        _place(body, at.split("."), _convert(mapping, value, name, at))
    name = inputs.get(mapping.name_param)
    if name is not None:
        body["name"] = name
    return body


def _convert(mapping: TypeMapping, value: Any, source: str, target: str) -> Any:
    if isinstance(value, list):
        members = cast("list[Any]", value)
        if source in mapping.string_sets:
            if any(item is UNKNOWN for item in members):
                return UNKNOWN
            return dict[str, Json]((str(item), {}) for item in members)
        return [_convert(mapping, item, f"{source}[]", f"{target}[]") for item in members]
    if not isinstance(value, Mapping):
        return value
    given = cast("Mapping[str, Any]", value)
    if schema(mapping.kind).get(target, {}).get("type") == "map":
        # Keys of a map are free text: a dot in `nvidia.com/gpu` separates no steps.
        return {
            name: _convert(mapping, item, f"{source}{{}}", f"{target}{{}}")
            for name, item in given.items()
            if item is not None
        }
    result: Json = {}
    for name, item in given.items():
        if item is None:
            continue
        at = mapping.nested.get(f"{source}.{name}", f"{target}.{name}")
        _place(result, at[len(target) + 1 :].split("."), _convert(mapping, item, f"{source}.{name}", at))
    return result


def _place(into: Json, path: list[str], value: Any) -> None:
    *parents, last = path
    for step in parents:
        into = into.setdefault(step, {})
    into[last] = value


def table(body: Any, path: str) -> Json:
    """The map at a path of the body; empty if the body has no map there."""
    value = get(body, path)
    return dict(cast("Json", value)) if isinstance(value, Mapping) else {}


def items(body: Any, path: str) -> list[Any]:
    """The list at a path of the body; empty if the body has no list there."""
    value = get(body, path)
    return cast("list[Any]", value) if isinstance(value, list) else []


def preview_outputs(mapping: TypeMapping, inputs: Mapping[str, Any]) -> Json:
    """Outputs that azure-native predicts in a preview: the given inputs, and "unknown" for everything else, in nested
    objects too.
    """
    outputs: Json = {}
    for name in mapping.outputs:
        value = inputs.get(name)
        known = value is not None and (name in mapping.inputs or name in mapping.path_params)
        outputs[name] = _foretell(mapping, value, name, mapping.inputs.get(name, "")) if known else UNKNOWN
    outputs[API_VERSION_INPUT] = mapping.api_version
    if "type" in outputs:
        outputs["type"] = mapping.arm_type
    return outputs


def _foretell(mapping: TypeMapping, value: Any, source: str, target: str) -> Any:
    if isinstance(value, list):
        members = cast("list[Any]", value)
        if source in mapping.string_sets:
            if any(item is UNKNOWN for item in members):
                return UNKNOWN
            return {item: {"clientId": UNKNOWN, "principalId": UNKNOWN} for item in members}
        return [_foretell(mapping, item, f"{source}[]", f"{target}[]") for item in members]
    if not isinstance(value, Mapping):
        return value
    given = cast("Mapping[str, Any]", value)
    if schema(mapping.kind).get(target, {}).get("type") == "map":
        return {name: _foretell(mapping, item, f"{source}{{}}", f"{target}{{}}") for name, item in given.items()}
    renamed = {path: name for name, path in mapping.nested.items()}
    result: Json = dict.fromkeys(_children(mapping.kind, target, renamed), UNKNOWN)
    for name, item in given.items():
        if item is not None:
            at = mapping.nested.get(f"{source}.{name}", f"{target}.{name}")
            result[name] = _foretell(mapping, item, f"{source}.{name}", at)
    return result


def _children(kind: str, target: str, renamed: Mapping[str, str]) -> list[str]:
    """Pulumi's names of all properties that the object at the path `target` of a request body can have."""
    names: list[str] = []
    for path in schema(kind):
        for prefix in (f"{target}.", f"{target}.properties."):
            rest = path[len(prefix) :]
            if path.startswith(prefix) and rest and not any(mark in rest for mark in ".[{") and rest != "properties":
                names.append(renamed[path].rsplit(".", 1)[-1] if path in renamed else rest)
    return names


def to_input(mapping: TypeMapping, name: str, value: Any) -> Any:
    """Converts an output to the form of the input with the same name: maps at the paths in `mapping.string_sets` become
    lists of their keys.
    """
    result: Json = {name: copy.deepcopy(value)}
    for path in mapping.string_sets:
        holder, _, last = path.rpartition(".")
        members = table(result, path)
        if members:
            _place(result, [*holder.split("."), last], list(members))
    return result[name]
