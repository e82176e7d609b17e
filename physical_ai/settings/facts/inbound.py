"""Rules of the subnets' security group for traffic from outside the virtual network. Pure functions.

A load balancer passes a packet on with the client's address, and AKS opens only the security group of the machines'
network interfaces, never the subnet's (AKS docs, concepts-network-cni-overview; Azure/AKS#674). A group without rules
drops packets of all clients outside the virtual network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import collapse_addresses
from typing import Literal

from physical_ai.settings.facts.private_network import private_network
from physical_ai.settings.models.tree import Settings

INTERNET = "Internet"
"""Service tag for all addresses outside of virtual networks."""
HTTPS, HTTP, DNS = 443, 80, 53


@dataclass(frozen=True)
class InboundRule:
    """Rule of the security group that allows inbound connections from `sources`, whatever their destination address.

    A rule cannot name the destination: the load balancer uses floating addresses, so a packet keeps the load balancer's
    address and port as its destination, and this address is known only once the Service exists (cloud-provider-azure,
    azure-disable-load-balancer-floating-ip).
    """

    name: str
    priority: int
    """Priority from 1000 on: Azure's lowest is 100, so rules of a landing zone fit before these."""
    sources: tuple[str, ...]
    """CIDRs, or one service tag."""
    ports: tuple[int, ...]
    protocol: Literal["Tcp", "*"]
    reason: str


def inbound_rules(settings: Settings) -> tuple[InboundRule, ...]:
    """Inbound rules in order; empty where clients are in the virtual network only."""
    return tuple(_rules(settings))


def gateway_port(settings: Settings) -> int | None:
    """Port on which clients reach OSMO's gateway; None in a stack without its own control plane."""
    if not settings.osmo.installs_service:
        return None
    return HTTP if settings.osmo.access.tls is None else HTTPS


def _rules(settings: Settings) -> Iterator[InboundRule]:
    port = gateway_port(settings)
    if port is not None and settings.osmo.access.scope == "public":
        yield InboundRule("allow-osmo-gateway", 1000, (INTERNET,), (port,), "Tcp", "Users and agents of OSMO.")
    given, clients = private_network(settings), private_clients(settings)
    if given is None or not clients:
        return
    ports = tuple(sorted({HTTPS, port or HTTPS}))
    reason = "VPN and hub: the gateway, private endpoints, the API server."
    yield InboundRule("allow-private-clients", 1010, clients, ports, "Tcp", reason)
    if given.resolver is not None:
        yield InboundRule("allow-private-dns", 1020, clients, (DNS,), "*", "VPN and hub: the DNS resolver.")


def private_clients(settings: Settings) -> tuple[str, ...]:
    """Address ranges of VPN clients and of the networks behind a hub; overlapping ranges are merged, because Azure
    accepts none.

    The ranges have to be listed. The service tag VirtualNetwork covers peered networks and routes that a gateway has
    learned, but is not documented to cover VPN clients, or networks behind a firewall in the hub.
    """
    given = private_network(settings)
    if given is None:
        return ()
    found = [*((given.vpn.client_range,) if given.vpn else ()), *(given.hub.address_spaces if given.hub else ())]
    return tuple(str(each) for each in collapse_addresses(found))
