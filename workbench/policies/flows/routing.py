"""Azure's choice among the routes of a subnet (Azure docs, virtual-networks-udr-overview, "How Azure selects a route").

The route with the longest prefix decides. Of routes with the same prefix, a user's comes before one that a gateway
learned, and this before Azure's own. Azure's own routes to the network and to peered networks come before longer ones
that a gateway learned. Of routes for service tags, those for a region come first, and AzureCloud last ("Exact match").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv4Network

from workbench.policies.model import Resource

EVERYWHERE = IPv4Network("0.0.0.0/0")
NETWORK, PEERING, GATEWAY, INTERNET, APPLIANCE, NOWHERE = (
    "VnetLocal",
    "VNetPeering",
    "VirtualNetworkGateway",
    "Internet",
    "VirtualAppliance",
    "None",
)
"""Next hops as ARM writes them, and VNetPeering, which only Azure's own routes have."""
RESERVED = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Ranges that Azure's own routes drop outside of the network (the same page, "Default")."""
CLOUD = "AzureCloud"


class Origin(IntEnum):
    """Origin of a route, in the order in which Azure prefers routes with the same prefix."""

    USER = 0
    GATEWAY = 1
    AZURE = 2


@dataclass(frozen=True)
class Route:
    """One route of a subnet. `tag` is the service tag of a user's route that has no prefix."""

    prefix: IPv4Network
    hop: str
    origin: Origin
    name: str = ""
    address: str = ""
    """Address of the appliance that the route leads to; empty for other next hops."""
    resource: Resource | None = None
    tag: str = ""


def own_routes(
    spaces: Sequence[IPv4Network], peered: Iterable[IPv4Network], learned: Iterable[IPv4Network], users: Sequence[Route]
) -> tuple[Route, ...]:
    """All routes of a subnet with a user's routes `users`.

    Args:
        spaces: Address ranges of the subnet's network.
        peered: Address ranges of peered networks.
        learned: Ranges that the network's gateway adds.
    """
    found = [Route(each, NETWORK, Origin.AZURE) for each in spaces]
    found += [Route(each, PEERING, Origin.AZURE) for each in peered]
    found += [Route(each, GATEWAY, Origin.GATEWAY) for each in learned]
    found.append(Route(EVERYWHERE, INTERNET, Origin.AZURE))
    leads_elsewhere = any(each.prefix == EVERYWHERE and not each.tag and each.hop != INTERNET for each in users)
    if not leads_elsewhere:
        # A user's route for everything takes these away (the same page, routing example, Subnet2).
        found += [
            Route(each, NOWHERE, Origin.AZURE)
            for each in RESERVED
            if not any(each.subnet_of(space) for space in spaces)
        ]
    return (*found, *(each for each in users if not each.tag))


def choose(routes: Iterable[Route], address: IPv4Address) -> Route | None:
    """The route that decides about an address; None if no route has it."""
    covering = [each for each in routes if address in each.prefix]
    direct = any(each.origin is Origin.AZURE and each.hop in (NETWORK, PEERING) for each in covering)
    kept = [each for each in covering if not (direct and each.origin is Origin.GATEWAY)]
    return min(kept, key=lambda each: (-each.prefix.prefixlen, each.origin), default=None)


def deciding(routes: Sequence[Route], target: IPv4Network) -> list[Route]:
    """The routes that decide about the addresses of a network, each with at least one address."""
    first, last = int(target.network_address), int(target.broadcast_address)
    edges = {first}
    for each in routes:
        edges |= {int(each.prefix.network_address), int(each.prefix.broadcast_address) + 1}
    found = [choose(routes, IPv4Address(each)) for each in sorted(edges) if first <= each <= last]
    return list({id(each): each for each in found if each is not None}.values())


def by_tag(users: Iterable[Route], tag: str) -> tuple[Route | None, list[Route]]:
    """The user's route that certainly decides about the public addresses of a service, and earlier routes that may
    decide about them.

    Args:
        tag: Service tag of the service, without a region. AzureCloud stands for an address of Azure whose service is
            not known.
    """
    perhaps: list[Route] = []
    for each in sorted((each for each in users if each.tag), key=lambda each: rank(each.tag)):
        name, _, region = each.tag.partition(".")
        if not region and name in (tag, CLOUD):
            return each, perhaps
        if name in (tag, CLOUD) or tag == CLOUD:
            perhaps.append(each)
    return None, perhaps


def rank(tag: str) -> int:
    """Position of a service tag in Azure's order of routes."""
    name, _, region = tag.partition(".")
    return (2 if region else 3) if name == CLOUD else (0 if region else 1)
