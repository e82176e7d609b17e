"""Rules that apply to every type: group, location, tags, parents, references, operations in progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from simulator.azure import ids
from simulator.azure.bodies import get
from simulator.azure.data import mappings
from simulator.azure.errors import Refusal
from simulator.azure.offers import location, unknown_here
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.state import kind_of

OF_OTHERS = (
    "VirtualNetworkPeering",
    "PrivateRecordSet",
    "RecordSet",
    "FederatedIdentityCredential",
    "PrivateLinkScopedResource",
)


@on_put("*", "arm-location-rg", "arm-rg-deleting")
def group(put: Put) -> Iterator[Refusal]:
    if put.kind == "ResourceGroup" or "resourceGroupName" not in put.mapping.path_params or _of_others(put):
        return
    name = str(put.inputs.get("resourceGroupName", ""))
    resource = put.azure.get(f"/subscriptions/{put.id.split('/')[2]}/resourceGroups/{name}")
    if resource is None:
        yield refuse(put, "arm-location-rg", f"Resource group '{name}' could not be found.")
    elif resource.state == "Deleting":
        message = f"The resource group '{name}' is in deprovisioning state and cannot perform this operation."
        yield refuse(put, "arm-rg-deleting", message)


def _of_others(put: Put) -> bool:
    """True if the PUT adds a child to a resource that another owner manages: a peering to the hub's network, a record
    to a foreign DNS zone, an entry to a foreign private link scope, or a credential to another stack's identity.
    """
    return put.kind in OF_OTHERS and put.azure.of_others(put.id)


@on_put("*", "aks-parent", "arm-child-parent")
def parent(put: Put) -> Iterator[Refusal]:
    if put.mapping.arm_type.count("/") < 2 or _of_others(put):
        return
    above = ids.parent(put.id)
    if put.kind == "BlobContainer":
        above = ids.parent(above)  # the blob service of an account exists with it
    if put.azure.get(above) is None:
        rule = "aks-parent" if put.mapping.is_aks else "arm-child-parent"
        message = (
            f"Can not perform requested operation on nested resource. Parent resource '{ids.name(above)}' not found."
        )
        yield refuse(put, rule, message)


@on_put("*", "arm-location-change", "arm-location-known", "rg-location")
def place(put: Put) -> Iterator[Refusal]:
    wanted = put.body.get("location")
    if not isinstance(wanted, str) or (put.kind == "ManagedCluster" and put.old is not None):
        return
    if put.kind in ("ActionGroup", "PrivateDnsZone", "VirtualNetworkLink", "PrivateLinkScope"):
        return  # have locations of their own: `telemetry.action_group`, `private_dns.zone`, `monitor_scopes.scope`
    if put.old is not None and put.old.location and put.old.location != location(wanted):
        rule = "rg-location" if put.kind == "ResourceGroup" else "arm-location-change"
        message = (
            f"Invalid resource location '{location(wanted)}'. The resource already exists in location"
            f" '{put.old.location}'. A resource with the same name cannot be created in another location."
        )
        yield refuse(put, rule, message, "location")
    elif put.azure.offers.region(wanted) is None:
        message = f"The provided location '{wanted}' is not available for resource type '{put.mapping.arm_type}'."
        message += unknown_here("simulator/azure/data/regions.json")
        yield refuse(put, "arm-location-known", message, "location")


@on_put("*", "arm-tags")
def tags(put: Put) -> Iterator[Refusal]:
    given = put.body.get("tags")
    if not isinstance(given, Mapping):
        return
    pairs = cast("Mapping[str, Any]", given)
    if len(pairs) > 50:
        yield refuse(put, "arm-tags", f"{len(pairs)} tags; at most 50 are allowed.", "tags", "TagCountLimitExceeded")
    for name, value in pairs.items():
        if len(name) > 512 or len(str(value)) > 256:
            yield refuse(put, "arm-tags", f"Tag '{name}' is too long.", f"tags.{name}", "TagNameTooLong")
        elif any(mark in name for mark in "<>%&\\?/"):
            yield refuse(put, "arm-tags", f"Tag name '{name}' holds one of < > % & \\ ? /.", f"tags.{name}")


REFERENCES = ("natGateway.id", "networkSecurityGroup.id", "routeTable.id", "ddosProtectionPlan.id", "publicIPPrefix.id")


@on_put(tuple(k for k, m in mappings().items() if m.is_network), "arm-ref-missing", "arm-ref-busy")
def references(put: Put) -> Iterator[Refusal]:
    """Refusals of references to resources that do not exist or whose creation has not finished."""
    found = [(path, get(put.properties, path)) for path in REFERENCES]
    addresses: list[Any] = get(put.properties, "publicIpAddresses") or []
    found += [(f"publicIpAddresses[{index}].id", get(item, "id")) for index, item in enumerate(addresses)]
    for path, reference in found:
        if not isinstance(reference, str):
            continue
        target = put.azure.get(reference)
        if target is None and (kind_of(reference) or path in REFERENCES):
            message = f"Resource {reference} referenced by resource {put.id} was not found."
            yield refuse(put, "arm-ref-missing", message, f"properties.{path}")
        elif target is not None and target.state != "Succeeded":
            message = f"Cannot proceed with operation because resource {reference} is not in Succeeded state."
            yield refuse(put, "arm-ref-busy", message, f"properties.{path}")


@on_put(("ManagedCluster", "AgentPool"), "aks-busy")
def busy_put(put: Put) -> Iterator[Refusal]:
    yield from _busy(put)


@on_delete(("ManagedCluster", "AgentPool"))
def busy_delete(delete: Delete) -> Iterator[Refusal]:
    yield from _busy(delete)


def _busy(request: Put | Delete) -> Iterator[Refusal]:
    """Refusals of a request during another operation. A cluster has one operation at a time. Several of its pools may
    change at once, but not during an operation on the cluster itself.
    """
    mine = ids.key(request.id)
    for other, operation in request.azure.in_flight.items():
        blocks = other == mine or mine.startswith(f"{other}/") or (other.startswith(f"{mine}/agentpools/"))
        if blocks:
            message = (
                f"Operation is not allowed: Another operation ({operation}) is in progress, please wait for it to"
                f" finish before starting a new operation. ({ids.name(other)})"
            )
            yield refuse(request, "aks-busy", message)
            return
