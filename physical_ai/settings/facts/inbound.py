"""Rules of the subnets' security group for traffic from outside the virtual network. Pure.

A load balancer passes a packet on with the client's address, and AKS opens only the group of the machines' network
interfaces, never one of the subnet (AKS docs, concepts-network-cni-overview; Azure/AKS#674). A group without rules
drops every client that is not in the virtual network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import collapse_addresses
from typing import Literal

from physical_ai.settings.facts.private_network import private_network
from physical_ai.settings.models.tree import Settings

INTERNET = "Internet"
"""Service tag: every address that is not of a virtual network."""
HTTPS, HTTP, DNS = 443, 80, 53


@dataclass(frozen=True)
class InboundRule:
    """One rule that allows connections. The destination is any address.

    The load balancer's rules use a floating address, so that a packet still has the load balancer's own address, which
    is known only once the Service exists, and its port (cloud-provider-azure, azure-disable-load-balancer-floating-ip).
    """

    name: str
    priority: int
    """Priority from 1000: Azure's lowest is 100, and rules of a landing zone have room before these."""
    sources: tuple[str, ...]
    """CIDRs, or one service tag."""
    ports: tuple[int, ...]
    protocol: Literal["Tcp", "*"]
    reason: str


def inbound_rules(settings: Settings) -> tuple[InboundRule, ...]:
    """Rules in their order; empty where only the virtual network connects."""
    return tuple(_rules(settings))


def gateway_port(settings: Settings) -> int | None:
    """The port of OSMO's gateway that clients use; None in a stack without a control plane of its own."""
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
    """Ranges of VPN clients and of the networks behind a hub.

    The tag VirtualNetwork has peered networks and routes that a gateway has learned. It is not documented to have the
    addresses of VPN clients, nor of networks behind a firewall in the hub. Azure accepts no overlapping prefixes.
    """
    given = private_network(settings)
    if given is None:
        return ()
    found = [*((given.vpn.client_range,) if given.vpn else ()), *(given.hub.address_spaces if given.hub else ())]
    return tuple(str(each) for each in collapse_addresses(found))
