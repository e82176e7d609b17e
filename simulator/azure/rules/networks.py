"""Rules of Microsoft.Network on the address ranges of virtual networks and subnets."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import GATEWAY_SUBNET
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.rules.pool_subnets import prefixes

NAME = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$")
PORTS = re.compile(r"^(\*|\d{1,5}(-\d{1,5})?)$")

Network = IPv4Network | IPv6Network


def parse(text: Any) -> Network | None:
    try:
        return ipaddress.ip_network(str(text))
    except ValueError:
        return None


@on_put(("VirtualNetwork", "Subnet"), "vnet-name", "subnet-name")
def names(put: Put) -> Iterator[Refusal]:
    least, most = (2, 64) if put.kind == "VirtualNetwork" else (1, 80)
    name = ids.name(put.id)
    if not (least <= len(name) <= most and NAME.match(name)):
        rule = "vnet-name" if put.kind == "VirtualNetwork" else "subnet-name"
        yield refuse(put, rule, f"Resource name '{name}' is invalid: {least} to {most} letters, digits, _ . -", "name")


def _ranges(put: Put) -> list[tuple[str, Any]]:
    """Every address range that a PUT declares, with its path in the body."""
    if put.kind == "VirtualNetwork":
        found = [
            ("properties.addressSpace.addressPrefixes", p)
            for p in items(put.properties, "addressSpace.addressPrefixes")
        ]
        for subnet in items(put.properties, "subnets"):
            at = f"properties.subnets[{subnet.get('name')}]"
            found += [(at, p) for p in subnet_prefixes(table(subnet, "properties"))]
        return found
    return [("properties.addressPrefix", p) for p in subnet_prefixes(put.properties)]


def subnet_prefixes(properties: dict[str, Any]) -> list[str]:
    one = properties.get("addressPrefix")
    return [str(one)] if one else [str(p) for p in items(properties, "addressPrefixes")]


@on_put(("VirtualNetwork", "Subnet"), "vnet-cidr", "vnet-size")
def address_ranges(put: Put) -> Iterator[Refusal]:
    for target, text in _ranges(put):
        found = parse(text)
        if found is None:
            message = f"The address prefix '{text}' is not a valid CIDR (host bits must be zero)."
            yield refuse(put, "vnet-cidr", message, target)
        elif found.version == 4 and not 2 <= found.prefixlen <= 29:
            message = f"The prefix length of '{text}' is outside /2 to /29."
            yield refuse(put, "vnet-size", message, target)
        elif found.version == 6 and put.kind == "Subnet" and found.prefixlen != 64:
            yield refuse(put, "vnet-size", f"An IPv6 subnet must be a /64, not '{text}'.", target)


@on_put("VirtualNetwork", "vnet-space-required", "vnet-space-overlap", "vnet-shrink")
def address_space(put: Put) -> Iterator[Refusal]:
    given = items(put.properties, "addressSpace.addressPrefixes")
    target, space = "properties.addressSpace", [n for n in map(parse, given) if n]
    if not given and not items(put.properties, "addressSpace.ipamPoolPrefixAllocations"):
        yield refuse(put, "vnet-space-required", "A virtual network needs an address space.", target)
    for index, first in enumerate(space):
        for second in space[index + 1 :]:
            if first.version == second.version and first.overlaps(second):
                yield refuse(put, "vnet-space-overlap", f"Address prefixes {first} and {second} overlap.", target)
    for subnet in put.azure.children(put.id, "Subnet") if len(space) == len(given) else ():
        for text in prefixes(subnet):
            inside = parse(text)
            if inside and not _inside(inside, space):
                message = f"The address space cannot lose the prefix of subnet {ids.name(subnet.id)} ({text})."
                yield refuse(put, "vnet-shrink", message, target)


def _inside(inner: Network, space: list[Network]) -> bool:
    return any(
        (isinstance(inner, IPv4Network) and isinstance(outer, IPv4Network) and inner.subnet_of(outer))
        or (isinstance(inner, IPv6Network) and isinstance(outer, IPv6Network) and inner.subnet_of(outer))
        for outer in space
    )


@on_put("Subnet", "subnet-in-vnet", "subnet-overlap", "subnet-one-prefix-form", "subnet-resize-used", "subnet-sharing")
def subnet(put: Put) -> Iterator[Refusal]:
    one, many = put.properties.get("addressPrefix"), items(put.properties, "addressPrefixes")
    name, target = ids.name(put.id), "properties.addressPrefix"
    if not one and not many and not items(put.properties, "ipamPoolPrefixAllocations"):
        yield refuse(put, "subnet-one-prefix-form", f"Subnet '{name}' needs an address prefix.", target)
    if one and many and many != [one]:
        message = "addressPrefix and addressPrefixes must not differ."
        yield refuse(put, "subnet-one-prefix-form", message, target)
    parent = put.azure.get(ids.parent(put.id), "VirtualNetwork")
    space = [
        n for n in map(parse, items(parent.body if parent else {}, "properties.addressSpace.addressPrefixes")) if n
    ]
    for text in subnet_prefixes(put.properties):
        mine = parse(text)
        if mine is None:
            continue
        if parent and not _inside(mine, space):
            message = f"Subnet '{name}' is not valid in virtual network '{ids.name(parent.id)}': {text} is outside its"
            message += f" address space {', '.join(map(str, space))}."
            yield refuse(put, "subnet-in-vnet", message, target)
        for other in put.azure.children(ids.parent(put.id), "Subnet"):
            if not ids.same(other.id, put.id) and any((n := parse(p)) and n.overlaps(mine) for p in prefixes(other)):
                message = f"Subnet '{name}' is not valid: {text} overlaps with subnet '{ids.name(other.id)}'."
                yield refuse(put, "subnet-overlap", message, target)
    if put.old and prefixes(put.old) != subnet_prefixes(put.properties) and put.azure.subnet_users(put.id):
        message = f"Subnet {name} is in use and its address prefix cannot be changed."
        yield refuse(put, "subnet-resize-used", message, target)
    if put.properties.get("sharingScope") and put.properties.get("defaultOutboundAccess") is not False:
        message = "sharingScope needs defaultOutboundAccess false."
        yield refuse(put, "subnet-sharing", message, "properties.sharingScope")


@on_put("Subnet", "nat-region", "nat-gw-subnet", "nat-one-per-subnet", "subnet-defaultoutbound")
def subnet_nat(put: Put) -> Iterator[Refusal]:
    """Refusals of a subnet's NAT gateway in another region, of a NAT gateway for the GatewaySubnet, and of changes to
    `defaultOutboundAccess`. A second NAT gateway is not refused: it replaces the first one.
    """
    gateway = put.azure.get(get(put.properties, "natGateway.id"), "NatGateway")
    parent = put.azure.get(ids.parent(put.id), "VirtualNetwork")
    target = "properties.natGateway"
    if gateway and parent and gateway.location != parent.location:
        message = (
            f"NAT gateway {ids.name(gateway.id)} is in {gateway.location}, the virtual network in {parent.location}."
        )
        yield refuse(put, "nat-region", message, target)
    if gateway and ids.name(put.id) == GATEWAY_SUBNET:
        yield refuse(put, "nat-gw-subnet", "A NAT gateway cannot serve the GatewaySubnet.", target)
    if put.old:
        before = put.old.body.get("properties", {}).get("defaultOutboundAccess")
        if before != put.properties.get("defaultOutboundAccess"):
            message = "defaultOutboundAccess can only be set when the subnet is created."
            yield refuse(put, "subnet-defaultoutbound", message, "properties.defaultOutboundAccess")
