"""Rules on peerings, VPN gateways and route tables."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import GATEWAY_SUBNET
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.rules.network_deletes import referenced
from simulator.azure.rules.networks import parse
from simulator.azure.rules.pool_subnets import prefixes
from simulator.azure.rules.private_dns import missing_network
from simulator.azure.state import AzureState, Resource

SMALLEST_GATEWAY_SUBNET = 29


def network_gateway(azure: AzureState, network_id: str) -> Resource | None:
    """The VPN gateway in a virtual network; None if the network has no VPN gateway."""
    for gateway in azure.of_kind("VirtualNetworkGateway"):
        for each in items(gateway.body, "properties.ipConfigurations"):
            subnet = str(get(each, "properties.subnet.id") or "//")
            if ids.same(ids.parent(subnet), network_id):
                return gateway
    return None


@on_put("VirtualNetworkPeering", "vnet-peer-space", "peer-gateway", "peer-immutable")
def peering(put: Put) -> Iterator[Refusal]:
    reference, target = str(get(put.properties, "remoteVirtualNetwork.id") or ""), "properties.remoteVirtualNetwork"
    if missing_network(put, reference):
        yield refuse(put, "arm-ref-missing", f"Resource {reference} was not found.", target)
    own, other = put.azure.get(ids.parent(put.id), "VirtualNetwork"), put.azure.get(reference, "VirtualNetwork")
    if own is not None and other is not None:
        for mine in items(own.body, "properties.addressSpace.addressPrefixes"):
            for theirs in items(other.body, "properties.addressSpace.addressPrefixes"):
                one, two = parse(mine), parse(theirs)
                if one and two and one.version == two.version and one.overlaps(two):
                    message = f"Address space {mine} of {ids.name(own.id)} overlaps {theirs} of {ids.name(other.id)}."
                    yield refuse(put, "vnet-peer-space", message, target)
    if put.properties.get("useRemoteGateways"):
        gateway = network_gateway(put.azure, ids.parent(put.id))
        if gateway is not None:
            message = f"useRemoteGateways cannot be set: the network has the gateway {ids.name(gateway.id)}."
            yield refuse(put, "peer-gateway", message, "properties.useRemoteGateways")
        elif not put.properties.get("doNotVerifyRemoteGateways") and not _transit_allowed(put, reference):
            message = f"useRemoteGateways needs allowGatewayTransit on the peering of {ids.name(reference)}."
            yield refuse(put, "peer-gateway", message, "properties.useRemoteGateways")
    if put.old and not ids.same(get(put.old.body, "properties.remoteVirtualNetwork.id"), reference):
        yield refuse(put, "peer-immutable", "remoteVirtualNetwork cannot be changed.", target)


def _transit_allowed(put: Put, remote: str) -> bool:
    """True if the peering back from the network `remote` allows gateway transit, or if `remote` is outside the
    simulator.
    """
    back = [
        each
        for each in put.azure.children(remote, "VirtualNetworkPeering")
        if ids.same(get(each.body, "properties.remoteVirtualNetwork.id"), ids.parent(put.id))
    ]
    if not back:
        return put.azure.get(remote, "VirtualNetwork") is None
    return any(get(each.body, "properties.allowGatewayTransit") for each in back)


@on_put("VirtualNetworkGateway", "vng-subnet", "vng-address", "vng-one")
def gateway(put: Put) -> Iterator[Refusal]:
    sku, target = str(get(put.properties, "sku.name")), "properties.ipConfigurations"
    for each in items(put.properties, "ipConfigurations"):
        reference = str(get(each, "properties.subnet.id") or "")
        subnet = put.azure.get(reference, "Subnet")
        sizes = [ipaddress.ip_network(text).prefixlen for text in (prefixes(subnet) if subnet else ())]
        if subnet is None or ids.name(reference) != GATEWAY_SUBNET or max(sizes) > SMALLEST_GATEWAY_SUBNET:
            message = f"Subnet '{ids.name(reference)}' is not a {GATEWAY_SUBNET} of /{SMALLEST_GATEWAY_SUBNET} or more."
            yield refuse(put, "vng-subnet", message, target)
        taken = network_gateway(put.azure, ids.parent(reference))
        if taken is not None and not ids.same(taken.id, put.id):
            message = f"Network {ids.name(ids.parent(reference))} has the gateway {ids.name(taken.id)} already."
            yield refuse(put, "vng-one", message, target)
        address = put.azure.get(get(each, "properties.publicIPAddress.id"), "PublicIPAddress")
        if address is None or (sku.endswith("AZ") and get(address.body, "sku.name") != "Standard"):
            yield refuse(put, "vng-address", f"A gateway of the SKU {sku} needs a Standard public address.", target)


@on_put("VirtualNetworkGateway", "vng-client-pool", "vng-client-entra")
def vpn_clients(put: Put) -> Iterator[Refusal]:
    target = "properties.vpnClientConfiguration"
    configuration = table(put.properties, "vpnClientConfiguration")
    space: list[str] = []
    for each in items(put.properties, "ipConfigurations"):
        network = put.azure.get(ids.parent(str(get(each, "properties.subnet.id") or "//")), "VirtualNetwork")
        space += items(network.body if network else {}, "properties.addressSpace.addressPrefixes")
    for pool in items(configuration, "vpnClientAddressPool.addressPrefixes"):
        for text in space:
            one, two = parse(pool), parse(text)
            if one and two and one.version == two.version and one.overlaps(two):
                message = f"The address pool {pool} of VPN clients overlaps {text} of the virtual network."
                yield refuse(put, "vng-client-pool", message, target)
    if "AAD" in items(configuration, "vpnAuthenticationTypes"):
        complete = all(configuration.get(name) for name in ("aadTenant", "aadAudience", "aadIssuer"))
        if items(configuration, "vpnClientProtocols") != ["OpenVPN"] or not complete:
            message = "Entra authentication needs the protocol OpenVPN alone, a tenant, an audience and an issuer."
            yield refuse(put, "vng-client-entra", message, target)


@on_put("RouteTable", "route-hop")
def routes(put: Put) -> Iterator[Refusal]:
    for route in items(put.properties, "routes"):
        needs = get(route, "properties.nextHopType") == "VirtualAppliance"
        if needs != bool(get(route, "properties.nextHopIpAddress")):
            message = f"Route {route.get('name')}: nextHopIpAddress is for the type VirtualAppliance, which needs it."
            yield refuse(put, "route-hop", message, "properties.routes")


@on_delete("RouteTable", "route-delete-used")
def delete_route_table(delete: Delete) -> Iterator[Refusal]:
    yield from referenced(delete, "Subnet", "routeTable", "route-delete-used")


@on_put("Subnet", "subnet-reserved-names")
def gateway_subnet(put: Put) -> Iterator[Refusal]:
    """Refusals of a GatewaySubnet that is delegated, too small, or has settings that only other subnets may have."""
    if ids.name(put.id) != GATEWAY_SUBNET:
        return
    if items(put.properties, "delegations"):
        yield refuse(put, "subnet-reserved-names", "GatewaySubnet cannot be delegated.", "properties.delegations")
    size = parse(put.properties.get("addressPrefix"))
    if size is not None and size.prefixlen > SMALLEST_GATEWAY_SUBNET:
        message = f"GatewaySubnet must be a /{SMALLEST_GATEWAY_SUBNET} or larger, not {size}."
        yield refuse(put, "subnet-reserved-names", message, "properties.addressPrefix", "InvalidSubnetSize")
