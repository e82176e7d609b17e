"""Properties that a GET of a resource returns, but that the answer to its PUT lacks.

A PUT is answered with the properties that were sent. Properties that appear only in a later GET look to azure-native
like changes made in Azure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from physical_ai.catalog.azure_native import TypeMapping
from physical_ai.catalog.seen import seen_in_bodies
from simulator.azure import ids
from simulator.azure.bodies import Json, to_body
from simulator.azure.data import load_json
from simulator.azure.registry import models
from simulator.azure.state import Resource, arm_type

NO_RETENTION: Json = {"days": 0, "enabled": False}


@cache
def categories() -> Mapping[str, Mapping[str, Any]]:
    """Log and metric categories of each resource type, by ARM type in lower case, each with its source."""
    return {name.lower(): row for name, row in load_json("diagnostic_categories.json").items()}


def outputs_of_get(resource: Resource) -> Json:
    """Outputs of a resource as azure-native gets them from a GET."""
    fill = _FILL.get(resource.kind)
    seen = _seen_of(resource.mapping)
    if fill is None and not seen:
        return resource.outputs
    outputs = copy.deepcopy(resource.outputs)
    outputs = outputs if fill is None else fill(resource, outputs)
    for path, value in seen.items():
        _fill_in(outputs, path.split("."), value)
    return outputs


def _seen_of(mapping: TypeMapping) -> Mapping[str, Any]:
    """Values that the real ARM was seen to add to a resource of this type in a GET, by path of the output."""
    found: dict[str, Any] = {}
    for path, value in seen_in_bodies(mapping.arm_type).items():
        for name, body in mapping.inputs.items():
            if "[" not in path and (path == body or path.startswith(f"{body}.")):
                found[f"{name}{path[len(body) :]}"] = value
    return found


def _fill_in(outputs: Json, path: Sequence[str], value: Any) -> None:
    """Sets a value in the outputs unless they already have one at this path; creates missing objects along the path."""
    *above, last = path
    here = outputs
    for key in above:
        inner = here.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        here = cast("Json", inner)
    if here.get(last) is None:
        here[last] = copy.deepcopy(value)


def body_of_get(resource: Resource) -> Json:
    """Body with which ARM answers a GET of the resource. The resource's outputs must be current, as `Cloud.get` returns
    them.
    """
    outputs = {name: value for name, value in outputs_of_get(resource).items() if name not in ("type", "name")}
    body = to_body(resource.mapping, outputs)
    return {**body, "id": resource.id, "name": ids.name(resource.id), "type": resource.mapping.arm_type}


@models("diag-all-categories")
def _diagnostic_setting(resource: Resource, outputs: Json) -> Json:
    """Outputs of a diagnostic setting: every category of the watched resource, disabled ones included, each with a
    disabled retention policy (hashicorp/terraform-provider-azurerm#17172; pulumi-azure-native#2798).

    Assumed, not verified: the categories that were sent come first.
    """
    known = categories().get(arm_type(str(resource.inputs.get("resourceUri", ""))).lower(), {})
    for name in ("logs", "metrics"):
        sent: list[Json] = outputs.get(name) or []
        for each in sent:
            each.setdefault("retentionPolicy", dict(NO_RETENTION))
        if any("categoryGroup" in each for each in sent):
            continue  # A GET lists the categories of a group in its place.
        present = {each.get("category") for each in sent}
        others = [category for category in known.get(name, ()) if category not in present]
        shown = [{"category": each, "enabled": False, "retentionPolicy": dict(NO_RETENTION)} for each in others]
        if sent or shown:
            outputs[name] = [*sent, *shown]
    return outputs


_FILL: Mapping[str, Callable[[Resource, Json], Json]] = {"DiagnosticSetting": _diagnostic_setting}
