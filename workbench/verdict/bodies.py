"""Bodies of requests to ARM, made from the Pulumi inputs of resources. Pure functions.

Each input's path in the body comes from azure-native's schema (`physical_ai.catalog.azure_native`). Keys within an
input have the same names in Pulumi and ARM, except keys that azure-native renames.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from physical_ai.catalog.azure_native import TypeMapping

API_VERSION_INPUT = "azureApiVersion"


def resource_id(mapping: TypeMapping, inputs: Mapping[str, Any], subscription: str) -> str:
    """The ARM id of a resource with these inputs. Raises KeyError if an input that is a part of the id is missing."""
    values = {name: str(inputs[name]).strip("/") for name in mapping.path_params}
    form = mapping.id_format.replace("/resourcegroups/", "/resourceGroups/")
    return form.format_map({"subscriptionId": subscription, **values})


def arm_type(mapping: TypeMapping, inputs: Mapping[str, Any]) -> str:
    """ARM type of a resource. For a DNS record, the last part of the type is an input."""
    if "recordType" in mapping.path_params:
        return f"{mapping.arm_type.rpartition('/')[0]}/{inputs['recordType']}"
    return mapping.arm_type


def api_version(mapping: TypeMapping, inputs: Mapping[str, Any]) -> str:
    return str(inputs.get(API_VERSION_INPUT) or mapping.api_version)


def body(mapping: TypeMapping, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a resource's PUT request. The resource's name is not in the body, since it is part of the path."""
    result: dict[str, Any] = {}
    for name, value in inputs.items():
        if value is None or name == API_VERSION_INPUT or name in mapping.path_params:
            continue
        if name in mapping.input_only and name not in mapping.inputs:
            continue
        at = mapping.inputs.get(name, f"properties.{name}")
        if at == "type" and name not in mapping.inputs:
            continue
        _place(result, at.split("."), _converted(mapping, value, name, at))
    return result


def _converted(mapping: TypeMapping, value: Any, source: str, target: str) -> Any:
    if isinstance(value, list | tuple):
        members = list(cast("list[Any]", value))
        if source in mapping.string_sets:
            return {str(each): dict[str, Any]() for each in members}
        return [_converted(mapping, each, f"{source}[]", f"{target}[]") for each in members]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for name, item in cast("Mapping[str, Any]", value).items():
        if item is None:
            continue
        renamed = mapping.nested.get(f"{source}.{name}")
        # A key that is not renamed is one step, also where it has a dot, as a label `nvidia.com/gpu`.
        steps = [name] if renamed is None else renamed[len(target) + 1 :].split(".")
        _place(result, steps, _converted(mapping, item, f"{source}.{name}", renamed or f"{target}.{name}"))
    return result


def _place(into: dict[str, Any], path: list[str], value: Any) -> None:
    *parents, last = path
    for step in parents:
        into = into.setdefault(step, {})
    into[last] = value


SUBSCRIPTION = re.compile(r"^/?subscriptions/([^/]+)", re.IGNORECASE)
GROUP = re.compile(r"^/?subscriptions/[^/]+/resourceGroups/([^/]+)", re.IGNORECASE)


def subscription_of(place: str) -> str:
    """Subscription in a resource id; empty if the id has none."""
    found = SUBSCRIPTION.match(place)
    return found[1] if found else ""


def group_of(place: str) -> str:
    """Resource group in a resource id; empty if the id has none."""
    found = GROUP.match(place)
    return found[1] if found else ""
