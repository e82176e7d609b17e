"""ARM resource ids: building, reading, comparing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.azure.data import TypeMapping, by_token, mappings
from simulator.azure.registry import models


@models("arm-id-case")
def key(resource_id: str) -> str:
    """The id in lower case for comparison, because ids that differ only in case name the same resource."""
    return resource_id.strip("/").lower()


def same(first: Any, second: Any) -> bool:
    return isinstance(first, str) and isinstance(second, str) and key(first) == key(second)


def build(mapping: TypeMapping, subscription: str, params: Mapping[str, Any]) -> str:
    """The id of a resource of this type with these path parameters."""
    values = {name: str(value) for name, value in params.items()}
    for name in ("scope", "resourceUri"):
        if name in values:
            values[name] = values[name].strip("/")
    # The service answers with this spelling for any spelling in the request URL.
    form = mapping.id_format.replace("/resourcegroups/", "/resourceGroups/")
    return form.format_map({"subscriptionId": subscription, **values})


def of_inputs(type: str, inputs: Mapping[str, Any], subscription: str) -> str | None:
    """Id of the resource that has these inputs, whether the resource exists or not.

    None if the simulator does not know the type, or if an input that is part of the id is missing or unknown. `type`: a
    Pulumi type token, or only its last part.
    """
    mapping = by_token().get(type) or mappings().get(type)
    if mapping is None or not all(isinstance(inputs.get(name), str) for name in mapping.path_params):
        return None
    return build(mapping, subscription, {name: inputs[name] for name in mapping.path_params})


def is_under(resource_id: str, scope: str) -> bool:
    """True if a resource is the scope itself or inside it."""
    inner, outer = key(resource_id), key(scope)
    return inner == outer or inner.startswith(f"{outer}/") or not outer


def parent(resource_id: str) -> str:
    """The id one level up: the virtual network of a subnet, the cluster of a pool."""
    return resource_id.rsplit("/", 2)[0]


def name(resource_id: str) -> str:
    return resource_id.rstrip("/").rsplit("/", 1)[-1]


def group(resource_id: str) -> str:
    """Name of the resource group in an id; empty if the id has none."""
    match = re.search(r"/resourcegroups/([^/]+)", resource_id, re.IGNORECASE)
    return match.group(1) if match else ""
