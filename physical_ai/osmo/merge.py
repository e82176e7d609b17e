"""How OSMO lays pod templates over each other and over a pod.

Maps are merged key by key, later values win, and null is a value like any other. A list that meets a list is merged by
the `name` of its items; an item without one is appended, so equal tolerations stay twice.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

from physical_ai.osmo.refusal import Refusal


def merge(base: Mapping[str, Any], *layers: Mapping[str, Any]) -> dict[str, Any]:
    """`layers` over `base`, left to right, the arguments untouched.

    >>> merge({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": "2"}, {"name": "B"}]})
    {'env': [{'name': 'A', 'value': '2'}, {'name': 'B'}]}

    Raises Refusal (a TypeError of OSMO's) where a map meets something else, or a list holds what has no name to read.
    """
    result = dict(copy.deepcopy(base))
    for layer in layers:
        merge_into(result, copy.deepcopy(layer))
    return result


def merge_into(base: Any, layer: Mapping[str, Any], *, by_name: bool = True) -> Any:
    """Like `merge`, in place and sharing what `layer` holds. Without `by_name` a list replaces a list.

    A base that is no map stays as it is when the layer is empty, as in OSMO.
    """
    for key, value in layer.items():
        if not isinstance(base, dict):
            # OSMO asks a map or a list what lies below it, and sets the rest at once.
            asks = isinstance(value, Mapping) or (by_name and isinstance(value, list))
            kind = "AttributeError" if asks else "TypeError"
            raise Refusal(kind, f"'{key}' can't be set: a map lies over {_told(base)}")
        target = cast("dict[str, Any]", base)
        if isinstance(value, Mapping):
            below: Any = target[key] if key in target else dict[str, Any]()
            target[key] = merge_into(below, cast("Mapping[str, Any]", value), by_name=by_name)
        elif by_name and isinstance(value, list) and isinstance(target.get(key), list):
            _merge_list(target[key], cast("list[Any]", value), key)
        else:
            target[key] = value
    return cast("Any", base)


def _merge_list(base: list[Any], layer: Sequence[Any], key: str) -> None:
    """Items of `layer` onto the item of `base` that has their name, the last if several; the others after them."""
    index: dict[Any, int] = {}
    for position, item in enumerate(base):
        if _has_name(item, key):
            index[_name(item, key)] = position
    rest: list[Any] = []
    for item in layer:
        if _has_name(item, key) and (found := index.get(_name(item, key))) is not None:
            base[found] = merge_into(base[found], item)
        else:
            rest.append(item)
    base.extend(rest)


def _has_name(item: Any, key: str) -> bool:
    """Whether OSMO takes the item for a named one; a text that contains `name`, or a list with it, pass as well."""
    if isinstance(item, Mapping | str | list):
        return "name" in item
    raise Refusal("TypeError", f"the list '{key}' can't be merged: it holds {_told(item)}")


def _name(item: Any, key: str) -> Any:
    if not isinstance(item, Mapping):
        raise Refusal("TypeError", f"the list '{key}' can't be merged: {_told(item)} contains 'name' but is no map")
    name = cast("Mapping[str, Any]", item)["name"]
    if isinstance(name, Mapping | list):
        raise Refusal("TypeError", f"the list '{key}' can't be merged: the name of an item is {_told(name)}")
    return name


def _told(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((dict, "a map"), (list, "a list"), (str, "a text"), (bool, "true or false"), (int, "a number"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "a number")
