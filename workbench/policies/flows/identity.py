"""Lookup of the resource that another resource refers to: by its id, or, in a preview, where ids are not known, by the
Pulumi dependency.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.policies.model import Resource, known, known_map


def id_of(reference: Any) -> str | None:
    """The id in a reference, which is a text or a map such as `{id: …}`; None if the id is not known yet."""
    value = known(reference)
    return str(found) if (found := known(known_map(value).get("id") if isinstance(value, dict) else value)) else None


def named(reference: Any, source: Resource, among: Iterable[Resource], key: str) -> Resource | None:
    """The resource in `among` that a property of `source` refers to; None if the property refers to a resource of
    another stack.

    Args:
        reference: Value of the property of `source`.
        key: Input that has the name of the wanted resource, such as `natGatewayName`. The resource's id ends with this
            name.
    """
    identifier = id_of(reference)
    for each in among:
        name = known(each.inputs.get(key))
        # Names that Azure chooses are not known in a preview or a recording; the dependency then decides.
        if identifier is None or name is None:
            if each.urn and each.urn in source.options.depends_on:
                return each
        elif identifier.lower().endswith(f"/{str(name).lower()}"):
            return each
    return None


def last_part(reference: Any) -> str:
    """The last part of the id in a reference, for messages."""
    return (id_of(reference) or "").rpartition("/")[2] or "one that is not known yet"


def of_type(resources: Sequence[Resource], *types: str) -> list[Resource]:
    """The resources of the types, in their order."""
    if len(types) == 1 and isinstance(resources, tuple):
        return list(_LAST.of(resources).get(types[0], ()))
    return [each for each in resources if each.type in types and each.custom]


class _Last:
    """Cache of the resources by type of the last judged stack, whose resources are asked for hundreds of times."""

    def __init__(self) -> None:
        self._known: tuple[tuple[Resource, ...], Mapping[str, list[Resource]]] = ((), {})

    def of(self, resources: tuple[Resource, ...]) -> Mapping[str, list[Resource]]:
        given, found = self._known
        if given is not resources:
            found = dict[str, list[Resource]]()
            for each in resources:
                if each.custom:
                    found.setdefault(each.type, []).append(each)
            self._known = (resources, found)
        return found


_LAST = _Last()
