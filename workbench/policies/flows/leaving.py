"""Outbound access of a subnet with nodes: its routes, and the resource that gives packets a public address.

A route in the subnet's table takes precedence over a NAT gateway, and the route with the longest prefix over other
routes (Azure docs, nat-overview and virtual-networks-udr-overview). The cluster's outbound type determines which
outbound access AKS itself creates (AKS docs, egress-outboundtype).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.firewalls import Firewall, Packet
from workbench.policies.flows.identity import id_of, last_part, named, of_type
from workbench.policies.flows.verdicts import Hops, Verdict
from workbench.policies.model import Resource, known, known_list, known_map

ROUTE_TABLE, NAT_GATEWAY = "azure-native:network:RouteTable", "azure-native:network:NatGateway"
ROUTE = "azure-native:network:Route"
BY_AKS = {
    "loadBalancer": "AKS's load balancer",
    "managedNATGateway": "AKS's NAT gateway",
    "managedNATGatewayV2": "AKS's NAT gateway",
}
"""Outbound types for which AKS creates the outbound access, so that the subnet needs no resource of its own."""
INTERNET_ROUTE = IPv4Network("0.0.0.0/0")


@dataclass(frozen=True)
class WayOut:
    """A subnet's way to the internet: the verdict on it, and a firewall on it whose rules are known, or None."""

    verdict: Verdict
    firewall: Firewall | None = None

    def hops(self, packet: Packet) -> Hops:
        """Hops of an outgoing packet: the way itself, then the firewall if there is one."""
        return (self.verdict,) if self.firewall is None else (self.verdict, self.firewall.lets_out(packet))


def way_out(
    subnet: Resource, resources: Sequence[Resource], outbound: str | None, firewalls: Sequence[Firewall]
) -> WayOut:
    """The subnet's way to the internet, with the verdict on it.

    Args:
        outbound: The cluster's outbound type; None if it is not known.
        firewalls: Firewalls whose rules are known.
    """
    route = _route(subnet, resources, INTERNET_ROUTE, firewalls)
    if route is not None:
        return route
    if known_map(subnet.inputs.get("natGateway")):
        return WayOut(_by_gateway(subnet, resources))
    if outbound in BY_AKS:
        return WayOut(Verdict(True, f"{BY_AKS[outbound]} (outboundType {outbound})", subnet))
    if known(subnet.inputs.get("defaultOutboundAccess")) is False or outbound is not None:
        return WayOut(Verdict(False, f"no NAT gateway and no route of {subnet.name}", subnet))
    return WayOut(Verdict(None, f"what leads out of {subnet.name}", subnet))


def _by_gateway(subnet: Resource, resources: Sequence[Resource]) -> Verdict:
    given = subnet.inputs.get("natGateway")
    gateway = named(given, subnet, of_type(resources, NAT_GATEWAY), "natGatewayName")
    if gateway is None:
        return Verdict(None, f"NAT gateway {last_part(given)}, which is not of the stack", subnet)
    addresses = ("publicIpAddresses", "publicIpPrefixes")
    if not any(known(gateway.inputs.get(key), ["?"]) for key in addresses if key in gateway.inputs):
        return Verdict(False, f"no public address of {gateway.name}", gateway)
    return Verdict(True, f"NAT gateway {gateway.name}", gateway)


def _route(
    subnet: Resource, resources: Sequence[Resource], target: IPv4Network, firewalls: Sequence[Firewall]
) -> WayOut | None:
    """The way that the subnet's route table gives to packets for `target`. None if the subnet has no route table, or
    the table has no route for `target`.
    """
    given = subnet.inputs.get("routeTable")
    if not known_map(given):
        return None
    table = named(given, subnet, of_type(resources, ROUTE_TABLE), "routeTableName")
    if table is None:
        return WayOut(Verdict(None, f"route table {last_part(given)}, not of the stack", subnet))
    routes = [(known_map(each), table) for each in known_list(table.inputs.get("routes"))]
    routes += [(dict(each.inputs), each) for each in of_type(resources, ROUTE) if _is_of(each, table)]
    covering = [(prefix, each, by) for each, by in routes if (prefix := _prefix(each)) and _has(prefix, target)]
    if not covering:
        return None
    _, route, resource = max(covering, key=lambda each: each[0].prefixlen)
    return _next(route, resource, table, firewalls)


def _next(route: dict[str, Any], resource: Resource, table: Resource, firewalls: Sequence[Firewall]) -> WayOut | None:
    hop = str(known(route.get("nextHopType"), ""))
    by = f"route {known(route.get('name') or route.get('routeName'), resource.name)} of {table.name}"
    if hop == "None":
        return WayOut(Verdict(False, f"{by}, which drops packets", resource))
    if hop == "VirtualAppliance":
        address = str(known(route.get("nextHopIpAddress"), ""))
        for each in firewalls:
            # Before the firewall exists its address is not known; then the dependency decides.
            if each.address == address if each.address else each.resource.urn in resource.options.depends_on:
                return WayOut(Verdict(True, f"{by}: the firewall {each.name}", resource), each)
        return WayOut(Verdict(None, f"{by}: the firewall {address}, whose rules are not of the stack", resource))
    if hop == "VirtualNetworkGateway":
        return WayOut(Verdict(None, f"{by}: what is behind the network's gateway", resource))
    # For a route to the internet, it depends on the resource that gives packets a public address.
    return None if hop == "Internet" else WayOut(Verdict(False, f"{by}, which stays in the network", resource))


def _has(prefix: IPv4Network, target: IPv4Network) -> bool:
    """True if a route's prefix contains the target.

    For the whole internet as target, a prefix for half of it is enough: VPN gateways and firewalls announce the
    internet as two routes, 0.0.0.0/1 and 128.0.0.0/1.
    """
    return target.subnet_of(prefix) or (target == INTERNET_ROUTE and prefix.prefixlen == 1)


def _prefix(route: dict[str, Any]) -> IPv4Network | None:
    try:
        return IPv4Network(str(known(route.get("addressPrefix"))))
    except ValueError:
        return None  # a service tag, or IPv6


def _is_of(route: Resource, table: Resource) -> bool:
    name = known(route.inputs.get("routeTableName"))
    return (id_of(name) == known(table.inputs.get("routeTableName"))) if name else table.urn in route.options.depends_on
