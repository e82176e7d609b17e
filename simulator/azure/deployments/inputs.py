"""Conversion of a request body back to inputs of azure-native, for the rules that read inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from simulator.azure.bodies import API_VERSION_INPUT, Json, get
from simulator.azure.data import TypeMapping


def inputs_of(mapping: TypeMapping, body: Mapping[str, Any], path: Mapping[str, str], api_version: str) -> Json:
    """The azure-native inputs from which azure-native would send this body. Properties of the body that have no input
    are left out.
    """
    found: Json = {**path, API_VERSION_INPUT: api_version}
    for name, at in mapping.inputs.items():
        value = get(body, at)
        if value is not None and name not in mapping.path_params:
            found[name] = _turned(mapping, value, name, at)
    return found


def _turned(mapping: TypeMapping, value: Any, source: str, target: str) -> Any:
    if isinstance(value, list):
        return [_turned(mapping, each, f"{source}[]", f"{target}[]") for each in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    members = dict(cast("Json", value))
    if source in mapping.string_sets:
        return list(members)
    result: Json = {}
    moved: set[str] = set()
    for own, at in mapping.nested.items():
        parent, _, name = own.rpartition(".")
        if parent == source and at.startswith(f"{target}."):
            steps = at[len(target) + 1 :]
            moved.add(steps.split(".")[0])
            if (item := get(members, steps)) is not None:
                result[name] = _turned(mapping, item, own, at)
    for name, item in members.items():
        if name not in moved:
            result[name] = _turned(mapping, item, f"{source}.{name}", f"{target}.{name}")
    return result
