"""Check that an API server's answer has the form that its readers rely on. It runs once, where the answer arrives.

Readers may assume that a Node has metadata, that its labels are texts, and that a Pod's containers have names. An
answer of another form does not come from an API server, or was changed on the way. It is refused as a whole, since a
part of it could be misleading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from physical_ai import safe_yaml
from physical_ai.kubernetes.quantities import quantity
from physical_ai.readiness.paths import api_path

DATA = Path(__file__).parent / "data" / "shapes.yaml"
LARGEST_WHOLE, LARGEST_QUANTITY = 1 << 63, 10**30
LONGEST_QUANTITY = 40
"""Maximum length of a resource quantity, in characters; longer texts are refused."""

Check = Callable[[Any, str], Any]
"""Function `check(value, where)`, which returns the checked `value`: without nulls, and with numbers of devices written
as digits. `where` is the path of the value, for messages.

Raises Malformed.
"""


class Malformed(Exception):
    """Raised for an answer of an unexpected form.

    The text says what was sent, without a verb: `items[0].spec that is a list, and not an object`.
    """


def checked(answer: Any, path: str) -> Any:
    """The answer, checked for the form of the objects that the path names; any object is accepted for a path that
    names none.

    Raises:
        Malformed
    """
    if not isinstance(answer, dict):
        raise Malformed(f"{_kind(answer)}, and not an object")
    found = cast("dict[str, Any]", answer)
    asked = api_path(path)
    if not asked.resource:
        return _of_discovery(path)(found, "")
    if asked.sub:
        return found
    check = _of_resource(asked.resource)
    if not asked.is_list:
        return check(found, "")
    items = found.get("items")
    if items is None and "metadata" in found and isinstance(found["metadata"], dict):
        items = []  # Go encodes an empty list as null
    if not isinstance(items, list):
        raise Malformed(f"an object without the list `items`, which a list of {asked.resource} has")
    given = cast("list[Any]", items)
    _named("list")(found.get("metadata") or {}, "metadata")
    return {**found, "items": [check(each, f"items[{number}]") for number, each in enumerate(given)]}


@cache
def _shapes() -> Mapping[str, Any]:
    return safe_yaml.load(DATA.read_text(encoding="utf-8"))


@cache
def _of_resource(resource: str) -> Check:
    own: Mapping[str, Any] = _shapes()["resource"].get(resource, {})
    common: Mapping[str, Any] = _shapes()["object"]
    status = {**common["status"], **own.get("status", {})}
    return _made({**common, **own, "status": status})


def _of_discovery(path: str) -> Check:
    """Check for answers about the API itself: its groups, the resources of an API version, or the server's version."""
    parts = path.strip("/").split("/")
    shape = {"apis": "groups" if len(parts) == 1 else "resources", "api": "resources", "version": "version"}
    known = shape.get(parts[0])
    return _made(_shapes()["discovery"][known]) if known else _anything


def _anything(value: Any, where: str) -> Any:
    del where
    return value


def _made(shape: Any) -> Check:
    """Check made from a shape in the data file: a name, a list with one shape, or a map of fields to shapes."""
    if isinstance(shape, str):
        return _LEAVES.get(shape) or _named(shape)
    if isinstance(shape, list):
        return _list_of(_made(cast("list[Any]", shape)[0]))
    fields = cast("dict[str, Any]", shape)
    if "*" in fields:
        return _any_keys(_made(fields["*"]))
    return _object_with({key.rstrip("!"): (_made(each), key.endswith("!")) for key, each in fields.items()})


@cache
def _named(shape: str) -> Check:
    return _made(_shapes()[shape])


def _object_with(fields: Mapping[str, tuple[Check, bool]]) -> Check:
    def check(value: Any, where: str) -> Any:
        found = _object(value, where)
        for key, (inner, required) in fields.items():
            given = found.get(key)
            if given is None:
                if required:
                    raise Malformed(f"{_at(where, key)} that is missing or null")
                found.pop(key, None)
            else:
                found[key] = inner(given, _at(where, key))
        return found

    return check


def _any_keys(inner: Check) -> Check:
    def check(value: Any, where: str) -> Any:
        given = _object(value, where)
        return {key: inner(each, _at(where, key)) for key, each in given.items() if each is not None}

    return check


def _list_of(inner: Check) -> Check:
    def check(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise Malformed(_other(value, where, "a list"))
        given = cast("list[Any]", value)
        return [inner(each, f"{where}[{number}]") for number, each in enumerate(given)]

    return check


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(_other(value, where, "an object"))
    return cast("dict[str, Any]", value)


def _text(value: Any, where: str) -> Any:
    if not isinstance(value, str):
        raise Malformed(_other(value, where, "a text"))
    return value


def _flag(value: Any, where: str) -> Any:
    if not isinstance(value, bool):
        raise Malformed(_other(value, where, "true or false"))
    return value


def _whole(value: Any, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= LARGEST_WHOLE:
        raise Malformed(_other(value, where, "a whole number"))
    return value


def _quantity(value: Any, where: str) -> Any:
    number = quantity(value) if len(str(value)[: LONGEST_QUANTITY + 1]) <= LONGEST_QUANTITY else None
    if number is None or abs(number) >= LARGEST_QUANTITY:
        raise Malformed(_other(value, where, "a quantity"))
    return value


def _share(value: Any, where: str) -> Any:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}%?", value):
        return value
    return _whole(value, where)


def _amounts(value: Any, where: str) -> Any:
    """Capacity of a node, checked, with numbers of devices written as digits: `1k`, the kubelet's text for 1,000 shares
    of a GPU, becomes `1000`.
    """
    found: dict[str, Any] = {}
    for key, each in _any_keys(_quantity)(value, where).items():
        number = quantity(each)
        if "/" in key and number is not None:
            if number % 1:
                raise Malformed(_other(each, _at(where, key), "a whole number"))
            found[key] = str(int(number))
        else:
            found[key] = each
    return found


_LEAVES: Mapping[str, Check] = {
    "any": _anything,
    "text": _text,
    "whole": _whole,
    "flag": _flag,
    "quantity": _quantity,
    "share": _share,
    "amounts": _amounts,
}


def _at(where: str, key: str) -> str:
    shown = key[:100] if key[:100].isprintable() else repr(key[:100])
    return f"{where}.{shown}" if where else shown


def _other(value: Any, where: str, wanted: str) -> str:
    return f"{where or 'a document'} that is {_kind(value)}, and not {wanted}"


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"the text {value[:40]!r}"
        case _:
            return f"the number {str(value)[:40]}" if abs(value) < LARGEST_WHOLE else "a number without end"
