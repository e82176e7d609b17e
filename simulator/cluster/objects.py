"""Functions that read plain Kubernetes objects: labels, dotted paths, owners, conditions, selectors, hashes."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, Labels, annotations_of, at, is_ready, labels, matches, name

Changes = dict[str, "str | None"]
"""Labels or annotations to set, by key; the value None removes the key."""

__all__ = ["Json", "Labels", "annotations_of", "at", "is_ready", "labels", "matches", "name"]


def by_name(items: Iterable[Json]) -> dict[str, Json]:
    return {name(item): item for item in items}


def owner(item: Mapping[str, Any], kind: str) -> str:
    """Name of the object of the kind `kind` that owns `item`; empty if there is no such owner."""
    references: list[Json] = at(item, "metadata.ownerReferences", [])
    return next((str(each["name"]) for each in references if each.get("kind") == kind), "")


def is_terminating(item: Mapping[str, Any]) -> bool:
    return at(item, "metadata.deletionTimestamp") is not None


def timestamp() -> str:
    """The present time in Kubernetes' format."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def changed(given: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """`given` with the changes applied; None removes a key."""
    merged = {**given, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def with_changes(item: Mapping[str, Any], labels_: Changes | None = None, annotations_: Changes | None = None) -> Json:
    """A copy of the object with changed labels and annotations."""
    metadata: Json = dict(item.get("metadata", {}))
    if labels_:
        metadata["labels"] = changed(labels(item), labels_)
    if annotations_:
        metadata["annotations"] = changed(annotations_of(item), annotations_)
    return {**item, "metadata": metadata}


def digest(value: Any, length: int = 10) -> str:
    """Hexadecimal digest of a JSON value, the same for equal values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:length]
