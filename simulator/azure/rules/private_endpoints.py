"""Rules on private endpoints: their subnet, their target, and their registration in zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import GATEWAY_SUBNET
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.state import arm_type, kind_of

GROUPS: Mapping[str, frozenset[str]] = {
    "microsoft.keyvault/vaults": frozenset({"vault"}),
    "microsoft.storage/storageaccounts": frozenset({"blob", "dfs", "file", "queue", "table", "web"}),
    "microsoft.containerregistry/registries": frozenset({"registry"}),
    "microsoft.dbforpostgresql/flexibleservers": frozenset({"postgresqlServer"}),
    "microsoft.cache/redisenterprise": frozenset({"redisEnterprise"}),
    "microsoft.insights/privatelinkscopes": frozenset({"azuremonitor"}),
    "microsoft.monitor/accounts": frozenset({"prometheusMetrics"}),
    "microsoft.dashboard/grafana": frozenset({"grafana"}),
    "microsoft.containerservice/managedclusters": frozenset({"management"}),
}
"""Sub-resources of the services that have private endpoints (Azure docs, private-endpoint-overview)."""


@on_put("PrivateEndpoint", "pe-subnet", "pe-subnet-used", "pe-subnet-immutable")
def endpoint_subnet(put: Put) -> Iterator[Refusal]:
    reference, target = str(get(put.properties, "subnet.id") or ""), "properties.subnet"
    subnet = put.azure.get(reference, "Subnet")
    if subnet is None:
        yield refuse(put, "pe-subnet", f"Subnet '{reference}' was not found.", target)
        return
    network = put.azure.get(ids.parent(reference), "VirtualNetwork")
    place = str(put.body.get("location", "")).replace(" ", "").lower()
    if network is not None and network.location != place:
        message = f"The endpoint is in {place}, subnet {ids.name(reference)} in {network.location}."
        yield refuse(put, "pe-subnet", message, target, "SubnetNotInSameRegion")
    services = [str(get(each, "properties.serviceName")) for each in items(subnet.body, "properties.delegations")]
    if services or ids.name(reference) == GATEWAY_SUBNET:
        owner = ", ".join(services) or "gateways"
        message = f"Subnet {ids.name(reference)} is for {owner} and holds no private endpoints."
        yield refuse(put, "pe-subnet-used", message, target)
    if put.old and not ids.same(get(put.old.body, "properties.subnet.id"), reference):
        yield refuse(put, "pe-subnet-immutable", "The subnet of a private endpoint cannot be changed.", target)


def connections(body: Mapping[str, Any]) -> list[tuple[str, list[str], bool]]:
    """Private link connections of an endpoint, each with its target, its sub-resources, and True if the target's owner
    has to approve it manually.
    """
    found: list[tuple[str, list[str], bool]] = []
    for name, by_hand in (("privateLinkServiceConnections", False), ("manualPrivateLinkServiceConnections", True)):
        for each in items(body, f"properties.{name}"):
            target = str(get(each, "properties.privateLinkServiceId") or "")
            found.append((target, items(each, "properties.groupIds"), by_hand))
    return found


@on_put("PrivateEndpoint", "pe-conn", "pe-group", "pe-target", "pe-registry-sku")
def endpoint_connection(put: Put) -> Iterator[Refusal]:
    found, target = connections(put.body), "properties.privateLinkServiceConnections"
    if len(found) != 1:
        message = "A private endpoint has one connection, in one of its two lists."
        yield refuse(put, "pe-conn", message, target)
    for service, groups, _ in found:
        # A service in another subscription is not part of this simulation.
        own = service.startswith(f"/subscriptions/{put.azure.directory.subscription}/")
        if own and put.azure.get(service) is None and kind_of(service) is not None:
            yield refuse(put, "pe-target", f"The resource '{service}' was not found.", target)
        allowed = GROUPS.get(arm_type(service).lower())
        if allowed is not None and (len(groups) != 1 or groups[0] not in allowed):
            message = f"Sub-resource {', '.join(groups) or '(none)'} of {arm_type(service)} does not exist; it has"
            yield refuse(put, "pe-group", f"{message} {', '.join(sorted(allowed))}.", target)
        registry = put.azure.get(service)
        if registry is not None and registry.kind == "Registry" and get(registry.body, "sku.name") != "Premium":
            message = f"Registry {ids.name(service)} needs the SKU Premium for private endpoints."
            yield refuse(put, "pe-registry-sku", message, target)


@on_put("PrivateDnsZoneGroup", "pe-zonegroup", "pe-zone")
def zone_group(put: Put) -> Iterator[Refusal]:
    zones = [str(get(each, "properties.privateDnsZoneId")) for each in items(put.properties, "privateDnsZoneConfigs")]
    target, names = "properties.privateDnsZoneConfigs", [ids.name(each).lower() for each in zones]
    if len(zones) > 5 or len(set(names)) != len(names):
        yield refuse(put, "pe-zonegroup", "A zone group has at most five zones, of different names.", target)
    for zone in zones:
        if put.azure.get(zone, "PrivateDnsZone") is None and not put.azure.of_others(zone):
            yield refuse(put, "pe-zone", f"The private DNS zone '{zone}' was not found.", target)
