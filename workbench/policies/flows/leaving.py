"""Ways of packets out of a subnet: its routes, and the resource that gives packets a public address.

A route in the subnet's table takes precedence over a NAT gateway (Azure docs, nat-overview). Which route of several
decides, is in `routing`. The cluster's outbound type determines which outbound access AKS itself creates (AKS docs,
egress-outboundtype).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.firewalls import Firewall, Packet
from workbench.policies.flows.identity import last_part, named, of_type
from workbench.policies.flows.route_tables import (
    ROUTE_TABLE,
    VPN_GATEWAY,
    clients_of,
    peered_with,
    spaces_of,
    users_routes,
)
from workbench.policies.flows.routing import (
    APPLIANCE,
    EVERYWHERE,
    GATEWAY,
    INTERNET,
    NETWORK,
    NOWHERE,
    RESERVED,
    Origin,
    Route,
    by_tag,
    deciding,
    own_routes,
)
from workbench.policies.flows.verdicts import Hops, Verdict, all_of, best, worst
from workbench.policies.model import Resource, known, known_list, known_map

NAT_GATEWAY = "azure-native:network:NatGateway"
BY_AKS = {
    "loadBalancer": "AKS's load balancer",
    "managedNATGateway": "AKS's NAT gateway",
    "managedNATGatewayV2": "AKS's NAT gateway",
}
"""Outbound types for which AKS creates the outbound access, so that the subnet needs no resource of its own."""
ENDPOINTS = {
    "Microsoft.Storage": "Storage",
    "Microsoft.Storage.Global": "Storage",
    "Microsoft.KeyVault": "AzureKeyVault",
    "Microsoft.ContainerRegistry": "AzureContainerRegistry",
}
"""Service tag whose addresses a subnet's service endpoint leads to, by the endpoint's service (Azure docs,
virtual-network-service-endpoints-overview).
"""
HALF = 1
"""Longest prefix of a route that counts as one for everything: VPN gateways and firewalls announce the internet as
0.0.0.0/1 and 128.0.0.0/1.
"""


@dataclass(frozen=True)
class Leaving:
    """Ways out of one subnet."""

    subnet: Resource
    internet: Verdict
    """Verdict on packets that a route leads to the internet."""
    users: tuple[Route, ...] = ()
    """Routes of the subnet's route table."""
    routes: tuple[Route, ...] = ()
    """All routes for prefixes, with Azure's own."""
    spaces: tuple[IPv4Network, ...] = ()
    clients: tuple[IPv4Network, ...] = ()
    """Ranges of the clients of the network's own VPN gateway."""
    foreign: str = ""
    """Name of a route table of another stack, whose routes are not known; empty if there is none."""
    services: tuple[str, ...] = ()
    """Service tags of the subnet's service endpoints."""
    peerings: tuple[str, ...] = ()
    """Names of peerings with networks whose ranges are not known."""
    firewalls: tuple[Firewall, ...] = ()
    """Firewalls whose rules are known."""

    def hops(self, packet: Packet) -> Hops:
        """Hops of a packet to a public address: a network, or the service tag of an Azure service."""
        if self.foreign:
            return (self._foreign(),)
        if isinstance(packet.target, IPv4Network):
            return self._worse(deciding(self.routes, packet.target), packet)
        if packet.target in self.services:
            return (Verdict(True, f"service endpoint of {self.subnet.name} for {packet.target}", self.subnet),)
        certain, perhaps = by_tag(self.users, packet.target)
        wide = [each for each in self.routes if each.prefix.prefixlen <= HALF]
        found = self._worse([certain] if certain else deciding(wide, EVERYWHERE), packet)
        public = [each for each in self.users if not each.tag and each.prefix.prefixlen > HALF and _is_public(each)]
        for each in (*perhaps, *(() if certain else public)):
            if all_of(self._along(each, packet)).open is not all_of(found).open:
                by = f"{self._name(each)}, if it has the address of {packet.host or packet.target}"
                return (Verdict(None, by, each.resource or self.subnet),)
        return found

    def inside(self, packet: Packet, longer_than: int = 0) -> Hops:
        """Hops of a packet to addresses of the network or of connected networks; empty where Azure's own routes lead
        there.

        Args:
            longer_than: Least length of a prefix of the routes that count, for private endpoints.
        """
        if self.foreign:
            return (self._foreign(),)
        assert isinstance(packet.target, IPv4Network)
        routes = [
            each for each in self.routes if each.origin is not Origin.USER or each.prefix.prefixlen >= longer_than
        ]
        return self._worse(deciding(routes, packet.target), packet)

    def answers(self, client: IPv4Network | str) -> Hops:
        """Hops of the answers to a client outside of the network; empty where Azure's own routes lead back.

        An appliance on the way has not seen the connection, and drops its answers (Azure docs,
        virtual-networks-udr-overview, "0.0.0.0/0 address prefix").
        """
        if self.foreign:
            return (self._foreign(),)
        target = client if isinstance(client, IPv4Network) else EVERYWHERE
        among = self.routes if isinstance(client, IPv4Network) else [
            each for each in self.routes if each.prefix.prefixlen <= HALF
        ]  # fmt: skip
        ways: list[Hops] = []
        own = any(target.subnet_of(each) for each in self.clients)
        for each in deciding(among, target):
            if (each.origin is not Origin.USER and not (own and each.hop == NOWHERE)) or (
                each.origin is Origin.USER and each.hop in (NETWORK, INTERNET)
            ):
                ways.append(())
            elif each.hop == GATEWAY:
                by = f"answers by {self._name(each)}: what is behind the network's gateway"
                ways.append((Verdict(None, by, each.resource),))
            elif self._may_be_peered(each, target):
                ways.append((self._by_peering(each),))
            else:
                end = "drops packets" if each.hop == NOWHERE else "leads to what has not seen the connection"
                ways.append((Verdict(False, f"answers by {self._name(each)}, which {end}", each.resource),))
        return worst(ways) if ways else ()

    def leads_to(self) -> Iterator[Firewall]:
        """Firewalls with known rules that routes of the subnet lead to."""
        for each in self.users:
            if each.hop == APPLIANCE and (found := self._firewall(each)) is not None:
                yield found

    def _worse(self, routes: Iterable[Route], packet: Packet) -> Hops:
        ways = [self._along(each, packet) for each in routes]
        return (worst(ways) if packet.wholly else best(ways)) if ways else ()

    def _along(self, route: Route, packet: Packet) -> Hops:
        """Hops of a packet along a route."""
        public = not isinstance(packet.target, IPv4Network) or packet.target.is_global
        if route.hop == INTERNET and public:
            # For a route to the internet, it depends on the resource that gives packets a public address.
            return (self.internet,)
        if route.origin is not Origin.USER or (route.hop == NETWORK and not public):
            return ()
        by = self._name(route)
        if not public and self._may_be_peered(route, packet.target):
            return (self._by_peering(route),)
        if route.hop == APPLIANCE:
            return self._through(route, packet)
        if route.hop == GATEWAY:
            return (Verdict(None, f"{by}: what is behind the network's gateway", route.resource),)
        ends = {NOWHERE: "which drops packets", NETWORK: "which stays in the network"}
        return (Verdict(False, f"{by}, {ends.get(route.hop, 'which leaves the network')}", route.resource),)

    def _through(self, route: Route, packet: Packet) -> Hops:
        """Hops of a packet along a route to an appliance."""
        by, firewall = self._name(route), self._firewall(route)
        if firewall is None:
            text = f"{by}: the firewall {route.address}, whose rules are not of the stack"
            return (Verdict(None, text, route.resource),)
        return (Verdict(True, f"{by}: the firewall {firewall.name}", route.resource), firewall.lets_out(packet))

    def _may_be_peered(self, route: Route, target: Any) -> bool:
        """True if a peered network with a longer prefix than the route's may have the target."""
        if not isinstance(target, IPv4Network) or target.is_global or not self.peerings:
            return False
        return not any(target.overlaps(each) for each in (*self.spaces, *self.clients))

    def _by_peering(self, route: Route) -> Verdict:
        by = f"{self._name(route)}, unless a range of the peering {', '.join(self.peerings)} is longer"
        return Verdict(None, by, route.resource)

    def _firewall(self, route: Route) -> Firewall | None:
        for each in self.firewalls:
            # Before the firewall exists its address is not known; then the dependency decides.
            depends = route.resource is not None and each.resource.urn in route.resource.options.depends_on
            if each.address == route.address if each.address else depends:
                return each
        return None

    def _name(self, route: Route) -> str:
        return route.name or f"Azure's route {route.prefix}"

    def _foreign(self) -> Verdict:
        return Verdict(None, f"route table {self.foreign}, not of the stack", self.subnet)


def _is_public(route: Route) -> bool:
    return not any(route.prefix.subnet_of(each) for each in RESERVED)


def leaving(
    subnet: Resource, resources: Sequence[Resource], outbound: str | None, firewalls: Sequence[Firewall]
) -> Leaving:
    """The ways out of a subnet.

    Args:
        outbound: The cluster's outbound type; None if it is not known.
        firewalls: Firewalls whose rules are known.
    """
    found = Leaving(subnet, _internet(subnet, resources, outbound), firewalls=tuple(firewalls))
    given, table = subnet.inputs.get("routeTable"), None
    if known_map(given):
        table = named(given, subnet, of_type(resources, ROUTE_TABLE), "routeTableName")
        if table is None:
            return replace(found, foreign=last_part(given))
    users = tuple(users_routes(table, resources)) if table is not None else ()
    spaces = tuple(spaces_of(subnet, resources))
    peered, unknown = peered_with(subnet, resources)
    clients = tuple(each for gateway in of_type(resources, VPN_GATEWAY) for each in clients_of(gateway))
    propagates = table is None or known(table.inputs.get("disableBgpRoutePropagation")) is not True
    services = [
        str(known(known_map(each).get("service"))) for each in known_list(subnet.inputs.get("serviceEndpoints"))
    ]
    return replace(
        found,
        users=users,
        routes=own_routes(spaces, peered, clients if propagates else (), users),
        spaces=spaces,
        clients=clients,
        services=tuple(ENDPOINTS[each] for each in services if each in ENDPOINTS),
        peerings=tuple(unknown),
    )


def _internet(subnet: Resource, resources: Sequence[Resource], outbound: str | None) -> Verdict:
    """Verdict on packets of the subnet that a route leads to the internet."""
    if known_map(subnet.inputs.get("natGateway")):
        return _by_gateway(subnet, resources)
    if outbound in BY_AKS:
        return Verdict(True, f"{BY_AKS[outbound]} (outboundType {outbound})", subnet)
    if known(subnet.inputs.get("defaultOutboundAccess")) is False or outbound is not None:
        return Verdict(False, f"no NAT gateway and no route of {subnet.name}", subnet)
    return Verdict(None, f"what leads out of {subnet.name}", subnet)


def _by_gateway(subnet: Resource, resources: Sequence[Resource]) -> Verdict:
    given = subnet.inputs.get("natGateway")
    gateway = named(given, subnet, of_type(resources, NAT_GATEWAY), "natGatewayName")
    if gateway is None:
        return Verdict(None, f"NAT gateway {last_part(given)}, which is not of the stack", subnet)
    addresses = ("publicIpAddresses", "publicIpPrefixes")
    if not any(known(gateway.inputs.get(key), ["?"]) for key in addresses if key in gateway.inputs):
        return Verdict(False, f"no public address of {gateway.name}", gateway)
    return Verdict(True, f"NAT gateway {gateway.name}", gateway)
