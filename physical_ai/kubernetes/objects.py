"""Reading of plain Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai import nested

Json = dict[str, Any]
at = nested.at
Labels = Mapping[str, str]


def labels(item: Mapping[str, Any]) -> dict[str, str]:
    return dict(at(item, "metadata.labels", {}))


def annotations_of(item: Mapping[str, Any]) -> dict[str, str]:
    return dict(at(item, "metadata.annotations", {}))


def name(item: Mapping[str, Any]) -> str:
    return str(at(item, "metadata.name", ""))


def namespace(item: Mapping[str, Any]) -> str:
    """Namespace of an object; empty for cluster-scoped objects."""
    return str(at(item, "metadata.namespace", ""))


def taint_text(taint: Mapping[str, Any]) -> str:
    """A taint as `key=value:Effect`."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def condition(item: Mapping[str, Any], kind: str) -> Json:
    """Condition of the type `kind`; an empty object if `item` has no such condition."""
    conditions: list[Json] = at(item, "status.conditions", [])
    nothing: Json = {}
    return next((each for each in conditions if each.get("type") == kind), nothing)


def is_ready(item: Mapping[str, Any]) -> bool:
    """True where the condition Ready of a Pod or a node is True."""
    return condition(item, "Ready").get("status") == "True"


def time_of(event: Mapping[str, Any]) -> str:
    """Time at which an event was last seen."""
    series = at(event, "series.lastObservedTime")
    latest = series or event.get("lastTimestamp") or event.get("eventTime")
    return str(latest or at(event, "metadata.creationTimestamp", ""))


def is_about(event: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """True if an event is about `item` itself, False if it is about an earlier object of the same name.

    The event's UID decides. An event whose UID is missing or equal to the name of `item` counts as one about `item`,
    because kubelets and monitors write a node's name as its UID.
    """
    uid = at(item, "metadata.uid")
    return not uid or at(event, "involvedObject.uid") in (None, "", uid, name(item))


def matches(selector: Labels, given: Labels) -> bool:
    return all(given.get(key) == value for key, value in selector.items())
