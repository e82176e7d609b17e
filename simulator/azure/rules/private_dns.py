"""Rules on private DNS: zones, their links to networks, and the resolver."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import RESOLVER_DELEGATION
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.rules.pool_subnets import prefixes
from simulator.azure.state import Resource

LABEL = re.compile(r"^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$")


def missing_network(put: Put, reference: str) -> bool:
    """True if the virtual network `reference` does not exist. A network of another owner is assumed to exist."""
    return put.azure.get(reference, "VirtualNetwork") is None and not put.azure.of_others(reference)


@on_put(("PrivateDnsZone", "VirtualNetworkLink"), "pdns-location", "pdns-name")
def zone(put: Put) -> Iterator[Refusal]:
    if put.body.get("location") != "global":
        message = f"The location '{put.body.get('location')}' is not available; the location must be 'global'."
        yield refuse(put, "pdns-location", message, "location")
    labels = ids.name(put.id).split(".")
    if put.kind == "PrivateDnsZone" and not (2 <= len(labels) <= 34 and all(LABEL.match(each) for each in labels)):
        yield refuse(put, "pdns-name", f"'{ids.name(put.id)}' is not a name of a zone: 2 to 34 labels.", "name")


@on_put("VirtualNetworkLink", "pdns-link-vnet", "pdns-link-unique", "pdns-link-autoreg", "pdns-link-immutable")
def link(put: Put) -> Iterator[Refusal]:
    reference, target = str(get(put.properties, "virtualNetwork.id") or ""), "properties.virtualNetwork"
    if not reference or missing_network(put, reference):
        yield refuse(put, "pdns-link-vnet", f"The virtual network '{reference}' was not found.", target)
    if put.old and not ids.same(get(put.old.body, "properties.virtualNetwork.id"), reference):
        yield refuse(put, "pdns-link-immutable", "The virtual network of a link cannot be changed.", target)
    mine, registers = ids.parent(put.id), bool(put.properties.get("registrationEnabled"))
    for other in put.azure.of_kind("VirtualNetworkLink"):
        if ids.same(other.id, put.id) or not ids.same(get(other.body, "properties.virtualNetwork.id"), reference):
            continue
        if ids.name(ids.parent(other.id)).lower() == ids.name(mine).lower():
            message = f"The virtual network '{ids.name(reference)}' is already linked to a zone of the name"
            message += f" '{ids.name(mine)}', through '{other.id}'."
            yield refuse(put, "pdns-link-unique", message, target)
        if registers and get(other.body, "properties.registrationEnabled"):
            message = f"The virtual network '{ids.name(reference)}' registers its names in another zone."
            yield refuse(put, "pdns-link-autoreg", message, "properties.registrationEnabled")


@on_delete("PrivateDnsZone", "pdns-delete")
def delete_zone(delete: Delete) -> Iterator[Refusal]:
    for child in delete.azure.children(delete.id, "VirtualNetworkLink"):
        message = f"Zone {ids.name(delete.id)} cannot be deleted before its virtual network link {ids.name(child.id)}."
        yield refuse(delete, "pdns-delete", message)
        return


@on_put("DnsResolver", "dnsr-one")
def resolver(put: Put) -> Iterator[Refusal]:
    reference, target = str(get(put.properties, "virtualNetwork.id") or ""), "properties.virtualNetwork"
    if missing_network(put, reference):
        yield refuse(put, "pdns-link-vnet", f"The virtual network '{reference}' was not found.", target)
    network = put.azure.get(reference, "VirtualNetwork")
    place = str(put.body.get("location", "")).replace(" ", "").lower()
    if network is not None and network.location != place:
        yield refuse(put, "dnsr-one", f"The resolver is in {place}, its network in {network.location}.", target)
    for other in put.azure.of_kind("DnsResolver"):
        if not ids.same(other.id, put.id) and ids.same(get(other.body, "properties.virtualNetwork.id"), reference):
            message = f"Virtual network '{ids.name(reference)}' has the resolver {ids.name(other.id)} already."
            yield refuse(put, "dnsr-one", message, target)


@on_put("InboundEndpoint", "dnsr-subnet", "dnsr-address", "dnsr-fixed")
def inbound_endpoint(put: Put) -> Iterator[Refusal]:
    given, target = items(put.properties, "ipConfigurations"), "properties.ipConfigurations"
    if put.old and items(put.old.body, "properties.ipConfigurations") != given:
        yield refuse(put, "dnsr-fixed", "ipConfigurations cannot be changed.", target)
    for configuration in given:
        reference = str(get(configuration, "subnet.id") or "")
        subnet = put.azure.get(reference, "Subnet")
        if subnet is None:
            yield refuse(put, "dnsr-subnet", f"Subnet '{reference}' was not found.", target, "InvalidSubnet")
            continue
        yield from _resolver_subnet(put, subnet, target)
        yield from _address(put, subnet, str(configuration.get("privateIpAddress") or ""), target)


def _resolver_subnet(put: Put, subnet: Resource, target: str) -> Iterator[Refusal]:
    services = [get(each, "properties.serviceName") for each in items(subnet.body, "properties.delegations")]
    if services != [RESOLVER_DELEGATION]:
        message = f"Subnet {ids.name(subnet.id)} is not delegated to {RESOLVER_DELEGATION} alone."
        yield refuse(put, "dnsr-subnet", message, target)
    sizes = [ipaddress.ip_network(text).prefixlen for text in prefixes(subnet)]
    if not all(24 <= size <= 28 for size in sizes):
        message = f"Subnet {ids.name(subnet.id)} must be a /28 to a /24."
        yield refuse(put, "dnsr-subnet", message, target, "InvalidSubnet")
    for other in put.azure.subnet_users(subnet.id):
        if not ids.same(other.id, put.id):
            message = f"Subnet {ids.name(subnet.id)} is used by {other.id}."
            yield refuse(put, "dnsr-subnet", message, target, "InvalidSubnet")


def _address(put: Put, subnet: Resource, address: str, target: str) -> Iterator[Refusal]:
    if not address:
        return
    network = ipaddress.ip_network(prefixes(subnet)[0])
    place = int(ipaddress.ip_address(address)) - int(network.network_address)
    if not 0 <= place < network.num_addresses:
        yield refuse(put, "dnsr-address", f"{address} is outside subnet {network}.", target)
    elif place < 4 or place == network.num_addresses - 1:
        code = "PrivateIPAddressInReservedRange"
        yield refuse(put, "dnsr-address", f"{address} is one of the addresses that Azure reserves.", target, code)
