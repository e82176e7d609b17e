"""Merging of pod templates with each other and into a Pod, as OSMO does it.

Maps are merged key by key, later values take precedence, and null is a value like any other. Items of two lists are
merged if they have the same `name`. An item without a name is always appended, so a toleration that is in both lists
appears twice.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

from workbench.osmo.refusal import crash

_KINDS = (
    (type(None), "null"),
    (bool, "true or false"),
    (int | float, "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "a map"),
)
"""Python types of values with their names in messages, the narrowest type first."""


def merge(base: Mapping[str, Any], *layers: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `layers` merged over it, from left to right; the arguments are not changed.

    >>> merge({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": "2"}, {"name": "B"}]})
    {'env': [{'name': 'A', 'value': '2'}, {'name': 'B'}]}

    Raises Refusal if a map is merged into something else, or a list has items in which OSMO cannot look for a name.
    """
    result = dict(copy.deepcopy(base))
    for layer in layers:
        merge_into(result, copy.deepcopy(layer))
    return result


def merge_into(base: Any, layer: Mapping[str, Any]) -> Any:
    """Merges `layer` into `base` in place, and returns `base`, which then shares values with `layer`.

    If the layer is empty, `base` may be something other than a map, as in OSMO.
    """
    for key, value in layer.items():
        if not isinstance(base, dict):
            raise crash(f"'{key}' can't be set in {_kind(base)}")
        target = cast("dict[str, Any]", base)
        if isinstance(value, Mapping):
            below: Any = target[key] if key in target else dict[str, Any]()
            target[key] = merge_into(below, cast("Mapping[str, Any]", value))
        elif isinstance(value, list) and isinstance(target.get(key), list):
            _merge_list(target[key], cast("list[Any]", value), key)
        else:
            target[key] = value
    return cast("Any", base)


def _merge_list(base: list[Any], layer: Sequence[Any], key: str) -> None:
    """Merges each item of `layer` into the last item of `base` with the same name, and appends the other items."""
    index = {item["name"]: position for position, item in enumerate(base) if _is_named(item, key)}
    rest: list[Any] = []
    for item in layer:
        if _is_named(item, key) and item["name"] in index:
            base[index[item["name"]]] = merge_into(base[index[item["name"]]], item)
        else:
            rest.append(item)
    base.extend(rest)


def _is_named(item: Any, key: str) -> bool:
    """True if the item of a list has a name, by which it is merged. Raises Refusal for an item on which OSMO crashes.
    `key`: name of the list in the message.
    """
    if isinstance(item, Mapping):
        found = cast("Mapping[str, Any]", item)
        if isinstance(found.get("name"), Mapping | list):
            raise crash(f"the list '{key}' can't be merged: the name of an item is not text")
        return "name" in found
    if isinstance(item, str | list) and "name" not in item:
        return False
    raise crash(f"the list '{key}' can't be merged: an item is {_kind(cast('object', item))}, and not a map")


def _kind(value: object) -> str:
    """The kind of a value in words of YAML, for messages."""
    return next((words for kind, words in _KINDS if isinstance(value, kind)), "a value of another kind")
