"""Conversion of ARM bodies of firewalls outside of the stack into resources. A GET, `az rest` and `az network firewall
… -o json` return such bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from physical_ai.nested import is_mapping
from workbench.policies.flows.firewall_rules import FIREWALL, IP_GROUP, POLICY, RULE_GROUP
from workbench.policies.model import Resource

TYPES: Mapping[str, tuple[str, str]] = {
    "microsoft.network/azurefirewalls": (FIREWALL, "azureFirewallName"),
    "microsoft.network/firewallpolicies": (POLICY, "firewallPolicyName"),
    "microsoft.network/firewallpolicies/rulecollectiongroups": (RULE_GROUP, "ruleCollectionGroupName"),
    "microsoft.network/ipgroups": (IP_GROUP, "ipGroupsName"),
}
"""Pulumi's resource type, and the input for the resource's name, by ARM type in lower case."""


def resources_of(bodies: Iterable[Any]) -> Iterator[Resource]:
    """Converts the firewalls, policies, rule collection groups and IP groups among ARM bodies into resources. Other
    bodies are left out.
    """
    for body in bodies:
        if not is_mapping(body) or (found := TYPES.get(_type(str(body.get("id", ""))))) is None:
            continue
        (type_, key), id_ = found, str(body["id"])
        parts = id_.split("/")
        inputs = {**_flat(body), key: parts[-1]}
        if type_ == RULE_GROUP:
            inputs["firewallPolicyName"] = parts[-3]
        yield Resource(type_, parts[-1], inputs, urn=f"azure::{id_}")


def _type(id_: str) -> str:
    """ARM type in a resource id, in lower case; empty for another text."""
    provider, *rest = id_.partition("/providers/")[2].split("/")
    return "/".join([provider, *rest[::2]]).lower()


def _flat(value: Any) -> Any:
    """A value with the keys below each `properties` moved one level up, as in Pulumi's inputs and az's output."""
    if isinstance(value, list):
        return [_flat(each) for each in value]  # pyright: ignore[reportUnknownVariableType] - decoded JSON
    if not is_mapping(value):
        return value
    below = value.get("properties")
    rest = {key: _flat(each) for key, each in value.items() if key != "properties"}
    return {**rest, **_flat(below)} if is_mapping(below) else rest
