"""Rules on network security groups, and on deleting network resources that are in use."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.rules.networks import PORTS
from simulator.azure.service_tags import is_tag

Row = tuple[str, str, dict[str, Any]]
"""A security rule: its name, its path in the body, and its properties."""


@on_put(
    ("NetworkSecurityGroup", "SecurityRule"),
    "nsg-priority",
    "nsg-priority-unique",
    "nsg-prefix-forms",
    "nsg-prefix",
    "nsg-plural-tag",
    "nsg-port-range",
)
def security_rules(put: Put) -> Iterator[Refusal]:
    """Refusals of security rules, in a group's PUT or as resources of their own, such as two rules of a group with the
    same priority.
    """
    if put.kind == "SecurityRule":
        own, others = [(ids.name(put.id), "properties", put.properties)], _siblings(put)
    else:
        own, others = list(_inline(put.properties)), []
    for name, target, rule in own:
        yield from _security_rule(put, name, target, rule)
    taken = Counter((rule.get("priority"), rule.get("direction")) for _, _, rule in [*own, *others])
    for (priority, direction), times in taken.items():
        if times > 1:
            message = f"{times} {direction} security rules have priority {priority}."
            yield refuse(put, "nsg-priority-unique", message, own[0][1] if own else "properties.securityRules")


def _inline(properties: dict[str, Any]) -> Iterator[Row]:
    for rule in items(properties, "securityRules"):
        yield str(rule.get("name")), f"properties.securityRules[{rule.get('name')}]", table(rule, "properties")


def _siblings(put: Put) -> list[Row]:
    """The other rules of the same network security group."""
    group = put.azure.get(ids.parent(put.id), "NetworkSecurityGroup")
    inline = list(_inline(table(group.body, "properties"))) if group else []
    children = put.azure.children(ids.parent(put.id), "SecurityRule")
    named = [(ids.name(each.id), "", table(each.body, "properties")) for each in children]
    return [row for row in [*inline, *named] if row[0].lower() != ids.name(put.id).lower()]


def _security_rule(put: Put, name: str, target: str, rule: dict[str, Any]) -> Iterator[Refusal]:
    priority = rule.get("priority")
    if priority is not None and not 100 <= priority <= 4096:
        message = f"Security rule {name} has priority {priority}, outside 100..4096."
        yield refuse(put, "nsg-priority", message, target)
    for side in ("source", "destination"):
        for what, plural in (("AddressPrefix", "AddressPrefixes"), ("PortRange", "PortRanges")):
            groups = bool(rule.get(f"{side}ApplicationSecurityGroups")) and what == "AddressPrefix"
            given = bool(rule.get(side + what)) + bool(rule.get(side + plural)) + groups
            if given != 1:
                message = f"Security rule {name} needs exactly one of {side}{what} and {side}{plural}."
                yield refuse(put, "nsg-prefix-forms", message, target)
        prefixes = [rule.get(f"{side}AddressPrefix") or "*", *items(rule, f"{side}AddressPrefixes")]
        if bad := [each for each in prefixes if not _is_prefix(str(each))]:
            message = f"Security rule {name} has invalid Address prefix. Value provided: {bad[0]}"
            yield refuse(put, "nsg-prefix", message, target)
        if tags := [each for each in items(rule, f"{side}AddressPrefixes") if each == "*" or is_tag(str(each))]:
            message = f"Security rule parameter {side.title()}AddressPrefixes for rule with Id {name} cannot specify"
            message += " existing VIRTUALNETWORK, INTERNET, AZURELOADBALANCER, '*' or system tags."
            yield refuse(put, "nsg-plural-tag", f"{message} Unsupported value used: {tags[0]}.", target)
        ports = [rule.get(f"{side}PortRange") or "*", *items(rule, f"{side}PortRanges")]
        if bad := [port for port in ports if not _is_port_range(str(port))]:
            message = f"Security rule {name}: '{bad[0]}' is not *, a port or a range within 0..65535."
            yield refuse(put, "nsg-port-range", message, target)


def _is_prefix(text: str) -> bool:
    """True for an address, a range whose host bits are zero, or a service tag."""
    if text == "*" or is_tag(text):
        return True
    try:
        return bool(ipaddress.ip_network(text))
    except ValueError:
        return False


def _is_port_range(text: str) -> bool:
    if not PORTS.match(text):
        return False
    numbers = [int(part) for part in text.split("-") if part != "*"]
    return all(number <= 65535 for number in numbers) and numbers == sorted(numbers)


@on_delete("Subnet", "subnet-delete-used")
def subnet(delete: Delete) -> Iterator[Refusal]:
    yield from _in_use(delete, delete.id)


@on_delete("VirtualNetwork", "vnet-delete-used")
def virtual_network(delete: Delete) -> Iterator[Refusal]:
    for child in delete.azure.children(delete.id, "Subnet"):
        yield from _in_use(delete, child.id)


@on_put("VirtualNetwork", "vnet-inline-drop")
def inline_subnets(put: Put) -> Iterator[Refusal]:
    """Refusals of a virtual network's PUT that omits a subnet in use: ARM deletes the subnets that the PUT omits."""
    if put.old is None or "subnets" not in put.properties:
        return
    named = {str(subnet.get("name")).lower() for subnet in items(put.properties, "subnets")}
    for child in put.azure.children(put.id, "Subnet"):
        users = put.azure.subnet_users(child.id)
        if ids.name(child.id).lower() not in named and users:
            message = f"Subnet {ids.name(child.id)} is in use by {users[0].id} and cannot be deleted."
            yield refuse(put, "vnet-inline-drop", message, "properties.subnets")


def _in_use(delete: Delete, subnet_id: str) -> Iterator[Refusal]:
    users = delete.azure.subnet_users(subnet_id)
    if users:
        rule = "subnet-delete-used" if delete.kind == "Subnet" else "vnet-delete-used"
        message = (
            f"Subnet {ids.name(subnet_id)} is in use by {users[0].id} and cannot be deleted. In order to delete the"
        )
        message += " subnet, delete all the resources within the subnet."
        yield refuse(delete, rule, message)


@on_delete("NatGateway", "nat-delete-used")
def nat_gateway(delete: Delete) -> Iterator[Refusal]:
    yield from referenced(delete, "Subnet", "natGateway", "nat-delete-used")


@on_delete("NetworkSecurityGroup", "nsg-delete-used")
def security_group(delete: Delete) -> Iterator[Refusal]:
    yield from referenced(delete, "Subnet", "networkSecurityGroup", "nsg-delete-used")


@on_delete("PublicIPAddress", "pip-delete-used")
def public_address(delete: Delete) -> Iterator[Refusal]:
    yield from referenced(delete, "NatGateway", "publicIpAddresses", "pip-delete-used")
    for gateway in delete.azure.of_kind("VirtualNetworkGateway"):
        for each in items(gateway.body, "properties.ipConfigurations"):
            if ids.same(get(each, "properties.publicIPAddress.id"), delete.id):
                message = f"publicIPAddresses {ids.name(delete.id)} is in use by {gateway.id} and cannot be deleted."
                yield refuse(delete, "pip-delete-used", message)


def referenced(delete: Delete, by: str, field: str, rule: str) -> Iterator[Refusal]:
    """Refusals to delete a resource while `field` of another resource, of the kind `by`, refers to it."""
    for other in delete.azure.of_kind(by):
        references = items(other.body, f"properties.{field}") or [get(other.body, f"properties.{field}")]
        if any(ids.same(get(reference, "id"), delete.id) for reference in references):
            message = f"{delete.mapping.arm_type.rsplit('/', 1)[-1]} {ids.name(delete.id)} is in use by {other.id} and"
            yield refuse(delete, rule, f"{message} cannot be deleted.")
            return
