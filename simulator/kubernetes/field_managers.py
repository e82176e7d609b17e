"""Managers of the fields of an object, and the fields that an update takes over. Pure functions.

Source: pulumi-kubernetes, provider/pkg/await/await.go (fixCSAFieldManagers, patchForce), 2026-07-01, and fluxcd/pkg,
ssa/patch.go at 4f94dc68: managers are recognized by the beginning of their name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from simulator.kubernetes.objects import Object, metadata

_TAKEN_OVER = {
    "Update": ("kubectl", "before-first-apply", "pulumi-kubernetes", "pulumi-resource-kubernetes"),
    "Apply": ("kubectl",),
}
"""Beginnings of names of field managers whose fields an update takes over, by the operation in `managedFields`. They
are the managers of `kubectl` and of the request that created the object.
"""
_CREATORS = ("pulumi-kubernetes", "pulumi-kubernetes.exe", "pulumi-resource-kubernetes")


def is_as_created(live: Object) -> bool:
    """True if the object's fields still belong to the manager that created it, because no update has taken them
    over.
    """
    return any(
        each.get("operation") == "Update" and each.get("manager") in _CREATORS for each in _entries(live)
    ) or not _entries(live)


def moved(live: Object, manager: str) -> list[Object] | None:
    """The object's `managedFields` after `manager` has taken over the fields of the object's creator and of `kubectl`.
    None if these own no fields.
    """
    entries = _entries(live)
    mine = [each for each in entries if each.get("manager") == manager and each.get("operation") == "Apply"]
    taken = [each for each in entries if each not in mine and _is_taken_over(each)]
    if not taken:
        return None
    fields: Object = {}
    for each in (*mine, *taken):
        fields = united(fields, cast("Object", each.get("fieldsV1") or {}))
    own = {**(mine or taken)[0], "manager": manager, "operation": "Apply", "fieldsV1": fields}
    return [own, *(each for each in entries if each not in taken and each not in mine)]


def _entries(live: Object) -> list[Object]:
    return cast("list[Object]", metadata(live).get("managedFields") or [])


def _is_taken_over(entry: Mapping[str, Any]) -> bool:
    """True if an update takes over the fields of this entry of `managedFields`: _TAKEN_OVER lists the entry's manager,
    and the entry has no subresource.

    A field that `kubectl scale` has set belongs to a subresource, so it remains a conflict.
    """
    names = _TAKEN_OVER.get(str(entry.get("operation")), ())
    return not entry.get("subresource") and str(entry.get("manager")).startswith(names)


def united(one: Object, other: Object) -> Object:
    """The union of two sets of fields (FieldsV1)."""
    result = dict(one)
    for key, value in other.items():
        result[key] = united(cast("Object", result.get(key) or {}), cast("Object", value))
    return result
