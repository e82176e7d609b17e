"""Check of a resource's inputs, which adds what the program left out: kind, name and namespace of the object."""

from __future__ import annotations

from typing import cast

from simulator.kubernetes.normalizing import normalized
from simulator.kubernetes.objects import (
    AUTONAMED,
    Object,
    annotated,
    autoname,
    gvk_of_type,
    is_crd,
    is_patch,
    metadata,
    name_of,
    to_api,
)
from simulator.kubernetes.scopes import Scopes
from simulator.wire import UNKNOWN, Failure, Refused, Request


def check_object(
    request: Request, old: Object, inputs: Object, scopes: Scopes, default_namespace: str
) -> tuple[Object, list[Failure]]:
    """Completed inputs, and the failures that make the inputs unusable. Raises Refused if the simulator does not
    support the resource.
    """
    gvk = gvk_of_type(request.type)
    if gvk.kind.endswith("List"):
        raise Refused(
            "list resources exist for compatibility with YAML manifests and Helm charts, and cannot be created "
            "directly. Use the underlying resource type instead"
        )
    obj = to_api(inputs)
    obj.setdefault("apiVersion", gvk.api_version)
    obj.setdefault("kind", gvk.kind)
    obj = normalized(obj)
    if obj.get("metadata") is UNKNOWN:
        return obj, []
    if not isinstance(obj.get("metadata", {}), dict):
        return obj, [Failure("metadata", "is not a map with name, labels and annotations")]
    obj["metadata"] = _named(request, old, obj)
    if is_crd(obj):
        scopes.plan(obj)
    if not obj["metadata"].get("namespace") and scopes.namespaced(obj):
        obj["metadata"]["namespace"] = default_namespace
    problem = scopes.unknown_kind(obj)
    return obj, [Failure("kind", problem)] if problem else []


def _named(request: Request, old: Object, obj: Object) -> Object:
    held = dict(metadata(obj))
    if held.get("name") is UNKNOWN or held.get("name"):
        return held
    if is_patch(request.type, obj):
        raise Refused("patch resources require the `.metadata.name` field to be set")
    if held.get("generateName"):
        raise Refused("the `.metadata.generateName` field is not supported in Server-Side Apply mode")
    held["name"] = name_of(old) if annotated(old, AUTONAMED) else autoname(request)
    if held.get("annotations") is not UNKNOWN:
        held["annotations"] = {**cast("Object", held.get("annotations") or {}), AUTONAMED: "true"}
    return held
