"""Check that an object has only the fields that its kind has.

Pulumi's Kubernetes provider creates an object with a POST that is not strict: the API server drops a field that it
does not know, and reports nothing. For kinds of Kubernetes itself the provider leaves the field out of later updates,
too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from pulumi import _types  # pyright: ignore[reportPrivateUsage]  # no public name

_OF_ITSELF = ("apiVersion", "kind")


def unknown_fields(resource: type[Any], obj: Mapping[str, Any]) -> Iterator[str]:
    """Messages about unknown fields: one for each field of `obj` that the SDK's type `resource` does not have. Fields
    inside Outputs are not checked.
    """
    named = _properties(resource, of_resource=True)
    for key, value in obj.items():
        if key in named:
            yield from _unknown(named[key], value, key)
        elif key not in _OF_ITSELF:
            yield _sentence(key, key, str(obj.get("kind")), named)


def _unknown(type: Any, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        if _types.is_output_type(type):
            named = _properties(type)
            for key, item in members.items():
                at = f"{path}.{key}"
                if key in named:
                    yield from _unknown(named[key], item, at)
                else:
                    yield _sentence(at, key, str(type.__name__), named)
        else:
            for key, item in members.items():
                yield from _unknown(_element(type), item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(cast("Sequence[Any]", value)):
            yield from _unknown(_element(type), item, f"{path}[{place}]")


def _element(type: Any) -> Any:
    """Type of the elements in the list or map type `type`; None if the SDK does not declare this type."""
    arguments: tuple[Any, ...] = getattr(type, "__args__", ())
    return arguments[-1] if arguments else None


@cache
def _properties(type: Any, *, of_resource: bool = False) -> Mapping[str, Any]:
    """Type of each property of the SDK's type `type`, by the property's name in the Kubernetes API."""
    return cast("Mapping[str, Any]", _types.resource_types(type) if of_resource else _types.output_type_types(type))


def _sentence(path: str, key: str, kind: str, named: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(key, named, 1)
    return f"{path} is no field of {kind}" + (
        f"; write {close[0]}" if close else f"; it has {', '.join(sorted(named))}"
    )
