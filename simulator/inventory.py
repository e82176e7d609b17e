"""Inventory of every object of a cluster, and the differences of two inventories."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, cast

from simulator.kubernetes.client import ApiError, Client

Inventory = Mapping[str, Mapping[str, Any]]
"""Objects by group, kind, namespace and name."""

PASSING = frozenset({"events", "leases", "endpointslices", "endpoints", "componentstatuses"})
"""Kinds of objects that Kubernetes itself creates and changes all the time; an inventory leaves them out."""
_OF_THE_SERVER = ("managedFields", "resourceVersion", "generation")
"""Metadata fields that the API server changes by itself; an inventory leaves these fields out."""
_OF_THE_MOMENT = ("conditions",)
"""Status fields that change by themselves, for example because they contain times; an inventory leaves these fields
out.
"""


def inventory(client: Client) -> dict[str, Any]:
    """Every object of every kind that the API server can list. Keys have the form `group/kind/namespace/name`. Raises
    ApiError.
    """
    found: dict[str, Any] = {}
    for group_version, kind in _kinds(client):
        group = group_version.rpartition("/")[0]
        base = f"/apis/{group_version}" if group else f"/api/{group_version}"
        for item in _items(client, f"{base}/{kind['name']}"):
            metadata = item["metadata"]
            place = "/".join(filter(None, (group, kind["name"], metadata.get("namespace"), metadata["name"])))
            found[place] = _compared(item)
    return found


def differences(before: Inventory, after: Inventory) -> list[str]:
    """Added, removed and changed objects, one line each."""
    added = [f"added {place}" for place in sorted(set(after) - set(before))]
    removed = [f"removed {place}" for place in sorted(set(before) - set(after))]
    both = sorted(set(before) & set(after))
    changed = [f"changed {place}: {path}" for place in both for path in _changed(before[place], after[place], "")]
    return [*added, *removed, *changed]


def _kinds(client: Client) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Kinds that the API server can list, each in the preferred version of its API group."""
    groups = [each["preferredVersion"]["groupVersion"] for each in client.get("/apis")["groups"]]
    for group_version in ("v1", *groups):
        base = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
        for kind in client.get(base)["resources"]:
            if "list" in kind["verbs"] and "/" not in kind["name"] and kind["name"] not in PASSING:
                yield group_version, kind


def _items(client: Client, path: str) -> list[dict[str, Any]]:
    try:
        return client.get(path)["items"]
    except ApiError as refusal:
        if refusal.code == 404:  # a definition that was deleted a moment ago
            return []
        raise


def _compared(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = copy.deepcopy(dict(item))
    for key in _OF_THE_SERVER:
        kept["metadata"].pop(key, None)
    status = kept.get("status")
    for key in _OF_THE_MOMENT:
        if isinstance(status, dict):
            status.pop(key, None)  # pyright: ignore[reportUnknownMemberType]  # of an object of any kind
    return kept


def _changed(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        one, other = cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", after)
        for key in sorted({*one, *other}):
            yield from _changed(one.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield f"{path} was {before!r}, is {after!r}"
