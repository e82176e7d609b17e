"""Inputs of a resource after azure-native's Read: the old inputs, changed where Azure's answer has changed.

The old answer in Pulumi's state and the new answer are both reduced to properties that a PUT accepts, and their
difference is applied to the inputs. A value that only Azure has set therefore becomes an input only when it changes.
Array elements are matched by position: an element that the program has not declared, such as a pool with a resource of
its own, becomes an input (pulumi-azure-native#1532).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

from simulator.azure import bodies
from simulator.azure.bodies import Json
from simulator.azure.data import TypeMapping, schema
from simulator.azure.state import Resource

_ABSENT = object()


def inputs_after(mapping: TypeMapping, found: Resource, outputs: Json, inputs: Json) -> Json:
    """Inputs of a resource after a refresh; on import, which has no old inputs, all inputs that Azure shows."""
    if not inputs:
        return {**copy.deepcopy(found.inputs), bodies.API_VERSION_INPUT: mapping.api_version}
    result = dict(inputs)
    for name in mapping.inputs:
        # AgentPool's output `type` is the ARM type, its input the kind of scale set.
        if name == "type" or name in mapping.input_only or (name in mapping.maintain_if_unset and name not in inputs):
            continue
        before, after = (_projected(mapping, name, side) for side in (outputs, found.outputs))
        value = merged(result.get(name, _ABSENT), before, after)
        if value is _ABSENT:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def merged(given: Any, before: Any, after: Any) -> Any:
    """The input `given`, changed by the difference between Azure's answers `before` and `after`.

    >>> merged([{"name": "a", "count": 1}], [{"name": "a", "count": 1}], [{"name": "a", "count": 2}, {"name": "b"}])
    [{'name': 'a', 'count': 2}, {'name': 'b'}]
    """
    if before == after:
        return given
    if isinstance(given, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast("Json", before), cast("Json", after)
        result = dict(cast("Json", given))
        for key in {**old, **new}:
            value = merged(result.get(key, _ABSENT), old.get(key, _ABSENT), new.get(key, _ABSENT))
            if value is _ABSENT:
                result.pop(key, None)
            else:
                result[key] = value
        return result
    if isinstance(given, list) and isinstance(before, list) and isinstance(after, list):
        mine, old_items, new_items = cast("list[Any]", given), cast("list[Any]", before), cast("list[Any]", after)
        places = range(max(len(mine), len(new_items)))
        found = [merged(_nth(mine, i), _nth(old_items, i), _nth(new_items, i)) for i in places]
        return [item for item in found if item is not _ABSENT]
    return copy.deepcopy(after) if after is not _ABSENT else _ABSENT


def _nth(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _ABSENT


def _projected(mapping: TypeMapping, name: str, outputs: Json) -> Any:
    """An output in the form of the input with the same name, without properties that a PUT does not accept."""
    if outputs.get(name) is None:
        return _ABSENT
    target = mapping.inputs.get(name) or f"properties.{name}"
    return _writable(mapping, bodies.to_input(mapping, name, outputs[name]), name, target)


def _writable(mapping: TypeMapping, value: Any, source: str, target: str) -> Any:
    if isinstance(value, list):
        return [_writable(mapping, item, f"{source}[]", f"{target}[]") for item in cast("list[Any]", value)]
    rows, result = schema(mapping.kind), dict[str, Any]()
    if not isinstance(value, Mapping) or rows.get(target, {}).get("type") == "map":
        return cast("Any", value)
    for key, item in cast("Json", value).items():
        at = mapping.nested.get(f"{source}.{key}", f"{target}.{key}")
        row = rows.get(at)
        if item is not None and row is not None and not row.get("readOnly"):
            result[key] = _writable(mapping, item, f"{source}.{key}", at)
    return result
