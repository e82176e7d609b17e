"""Node pool rules on the network around the nodes: subnets, NAT, address capacity."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Pool, on_pool, refuse
from simulator.azure.state import Resource

RESERVED_ADDRESSES = 5
"""Number of addresses that Azure reserves in each subnet: the first four and the last."""


def prefixes(subnet: Resource) -> list[str]:
    """Address prefixes of a subnet, from its property `addressPrefix` or `addressPrefixes`."""
    one = get(subnet.body, "properties.addressPrefix")
    return [str(one)] if one else [str(p) for p in items(subnet.body, "properties.addressPrefixes")]


def subnets_of(pool: Pool) -> list[tuple[str, str]]:
    named = (("vnetSubnetID", pool.spec.get("vnetSubnetID")), ("podSubnetID", pool.spec.get("podSubnetID")))
    return [(name, value) for name, value in named if isinstance(value, str)]


@on_pool("net-subnet-exists", "net-region", "net-subnet-delegated", "net-subnet-multiprefix")
def subnet(pool: Pool) -> Iterator[Refusal]:
    for name, reference in subnets_of(pool):
        target = f"agentPoolProfile.{name}"
        found = pool.azure.get(reference, "Subnet")
        if found is None:
            yield refuse(pool, "net-subnet-exists", f"Subnet {reference} was not found.", target)
            continue
        network = pool.azure.get(ids.parent(reference), "VirtualNetwork")
        if network is not None and pool.location and network.location != pool.location:
            message = (
                f"Virtual network {ids.name(network.id)} is in {network.location}, the cluster in {pool.location}."
            )
            yield refuse(pool, "net-region", message, target)
        for delegation in items(found.body, "properties.delegations"):
            service = get(delegation, "properties.serviceName")
            if service != "Microsoft.ContainerService/managedClusters":
                message = f"Subnet {ids.name(reference)} is delegated to {service} and cannot hold nodes."
                yield refuse(pool, "net-subnet-delegated", message, target)
        if len(prefixes(found)) > 1:
            message = f"Subnet {ids.name(reference)} has several address prefixes."
            yield refuse(pool, "net-subnet-multiprefix", message, target)


@on_pool("net-one-vnet", "net-managed-vnet-mix", "podalloc-needs-podsubnet")
def one_network(pool: Pool) -> Iterator[Refusal]:
    mine = pool.spec.get("vnetSubnetID")
    for name, other in pool.siblings.items():
        theirs = other.get("vnetSubnetID")
        if (mine is None) != (theirs is None):
            message = f"Pools {pool.name} and {name}: either all pools name a vnetSubnetID or none does."
            yield refuse(pool, "net-managed-vnet-mix", message, "agentPoolProfile.vnetSubnetID")
            break
        if mine and theirs and not ids.same(ids.parent(mine), ids.parent(theirs)):
            message = f"Pools {pool.name} and {name} are in different virtual networks."
            yield refuse(pool, "net-one-vnet", message, "agentPoolProfile.vnetSubnetID")
            break
    if pool.sent.get("podIPAllocationMode") and not pool.sent.get("podSubnetID"):
        message = "podIPAllocationMode needs a podSubnetID."
        yield refuse(pool, "podalloc-needs-podsubnet", message, "agentPoolProfile.podIPAllocationMode")


@on_pool("net-nat-assoc", "net-nat-ip", "net-nat-byo-vnet", "net-mnat-byo-vnet")
def nat(pool: Pool) -> Iterator[Refusal]:
    outbound, reference = get(pool.cluster, "properties.networkProfile.outboundType"), pool.spec.get("vnetSubnetID")
    target = "networkProfile.outboundType"
    if outbound == "managedNATGateway" and reference:
        message = "outboundType managedNATGateway cannot be used with an own virtual network."
        yield refuse(pool, "net-mnat-byo-vnet", message, target)
    if outbound != "userAssignedNATGateway":
        return
    if reference is None:
        message = "outboundType userAssignedNATGateway needs an own virtual network (vnetSubnetID)."
        yield refuse(pool, "net-nat-byo-vnet", message, target)
        return
    found = pool.azure.get(reference, "Subnet")
    if found is None:
        return
    gateway = pool.azure.get(get(found.body, "properties.natGateway.id"), "NatGateway")
    if gateway is None:
        message = f"Subnet {reference} is not associated with a NAT gateway."
        yield refuse(pool, "net-nat-assoc", message, "agentPoolProfile.vnetSubnetID")
    elif not items(gateway.body, "properties.publicIpAddresses") and not items(
        gateway.body, "properties.publicIpPrefixes"
    ):
        message = f"NAT gateway {ids.name(gateway.id)} has neither a public IP address nor a prefix."
        yield refuse(pool, "net-nat-ip", message, "agentPoolProfile.vnetSubnetID")


@on_pool("net-udr-table", "net-udr-publicip")
def user_defined_routing(pool: Pool) -> Iterator[Refusal]:
    if get(pool.cluster, "properties.networkProfile.outboundType") != "userDefinedRouting":
        return
    found = pool.azure.get(pool.spec.get("vnetSubnetID"), "Subnet")
    if found is not None and not get(found.body, "properties.routeTable.id"):
        message = f"Subnet {ids.name(found.id)} has no route table, which outboundType userDefinedRouting needs."
        yield refuse(pool, "net-udr-table", message, "networkProfile.outboundType")
    table_ = pool.azure.get(get(found.body, "properties.routeTable.id") if found else None, "RouteTable")
    leads = [
        get(each, "properties.addressPrefix") for each in items(table_.body if table_ else {}, "properties.routes")
    ]
    if table_ is not None and "0.0.0.0/0" not in leads:
        message = f"Route table {ids.name(table_.id)} has no route for 0.0.0.0/0."
        yield refuse(
            pool, "net-udr-table", message, "networkProfile.outboundType", "RouteTableMissingDefaultRouteError"
        )
    if pool.sent.get("enableNodePublicIP"):
        message = "enableNodePublicIP cannot be used with outboundType userDefinedRouting."
        yield refuse(pool, "net-udr-publicip", message, "agentPoolProfile.enableNodePublicIP")


def addresses_needed(spec: Mapping[str, Any], cluster: Mapping[str, Any], nodes: int) -> int:
    """Number of addresses that `nodes` nodes take from the node subnet, including the surge of an upgrade.

    With overlay or a pod subnet, each node takes one address; with flat Azure CNI, each node and each of its possible
    Pods.
    """
    surge_text = str(get(spec, "upgradeSettings.maxSurge") or "0")
    percent = surge_text.endswith("%")
    amount = int(surge_text.rstrip("%")) if surge_text.rstrip("%").isdigit() else 0
    total = nodes + (math.ceil(nodes * amount / 100) if percent else amount)
    network = table(cluster, "properties.networkProfile")
    flat = network.get("networkPlugin") == "azure" and network.get("networkPluginMode") != "overlay"
    return total * (int(spec["maxPods"]) + 1) if flat and not spec.get("podSubnetID") else total


@on_pool("net-subnet-capacity")
def capacity(pool: Pool) -> Iterator[Refusal]:
    reference = pool.spec.get("vnetSubnetID")
    found = pool.azure.get(reference, "Subnet")
    if found is None or not prefixes(found):
        return
    try:
        size = ipaddress.ip_network(prefixes(found)[0]).num_addresses - RESERVED_ADDRESSES
    except ValueError:
        return
    needed = addresses_needed(pool.spec, pool.cluster, int(pool.spec.get("count", 1)))
    for other in pool.siblings.values():
        if ids.same(other.get("vnetSubnetID"), reference):
            needed += addresses_needed(other, pool.cluster, int(other.get("count", 1)))
    if needed > size:
        message = f"Pre-allocated IPs {needed} exceeds IPs available {max(size, 0)} in Subnet {ids.name(found.id)}"
        message += f" ({prefixes(found)[0]})."
        yield refuse(pool, "net-subnet-capacity", message, "agentPoolProfile.vnetSubnetID")
