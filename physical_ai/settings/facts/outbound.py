"""Outbound access of nodes to the internet: the NAT gateways of a stack, and the gateway of each subnet. Pure
functions.

A Standard gateway is in one zone. A StandardV2 gateway spans the zones of its region, and needs a StandardV2 address; a
Standard gateway cannot be changed into one (Azure docs, nat-gateway/nat-overview, nat-gateway-v2-migrate). A subnet has
only one gateway. With a zonal gateway, a subnet is therefore resilient only if all of its nodes are in the gateway's
zone.

StandardV2 is not the default yet: azure-native sends gateways with an API version that Azure has not published for
StandardV2 (`physical_ai/catalog/data/api_versions.yaml`). If Azure refused the gateway, the deployment would stop
before its cluster; a zonal gateway has no such risk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Literal

from physical_ai.catalog import region
from physical_ai.catalog.api_versions import sends_standard_v2
from physical_ai.settings.facts.pools import SYSTEM_POOL, node_pools, shared_subnet_pools
from physical_ai.settings.facts.private_network import uses_firewall
from physical_ai.settings.models.network import OutboundForm
from physical_ai.settings.models.node_pools import NodePool
from physical_ai.settings.models.tree import Settings

SYSTEM_SUBNET = SYSTEM_POOL
"""Key of the subnet that the system and cpu pools share, among the subnets of the stack's nodes."""


@dataclass(frozen=True)
class Gateway:
    """A NAT gateway with one address. `suffix` distinguishes the gateways of a stack, in Pulumi and in Azure."""

    suffix: str = ""
    sku: Literal["Standard", "StandardV2"] = "Standard"
    zones: tuple[str, ...] = ()
    """Zones of the gateway; empty for StandardV2, which spans the zones of its region and accepts no list of them."""
    address_zones: tuple[str, ...] = ()


NONZONAL = Gateway()


@dataclass(frozen=True)
class OutboundFacts:
    """NAT gateways of a stack. `by_subnet` has the gateway that each subnet uses. `prepared` has the gateways that
    `outbound.next` asks for and no subnet uses yet.
    """

    by_subnet: Mapping[str, Gateway]
    prepared: tuple[Gateway, ...] = ()

    @property
    def gateways(self) -> tuple[Gateway, ...]:
        """All gateways, each once; the gateways in use come first."""
        return tuple(dict.fromkeys([*self.by_subnet.values(), *self.prepared]))


def outbound_facts(settings: Settings) -> OutboundFacts:
    """NAT gateways of a stack; empty if its nodes reach the internet through a firewall."""
    if uses_firewall(settings):
        return OutboundFacts({})
    following = settings.network.outbound.next
    prepared = _gateways(settings, following).values() if following else ()
    return OutboundFacts(_gateways(settings, outbound_form(settings)), tuple(prepared))


def outbound_form(settings: Settings) -> OutboundForm:
    """Form of the NAT gateways in use: the form in the settings or, without one, the form that fits the zones of the
    pools.

    Raises:
        UnknownName: the region is not in the catalogue.
    """
    if settings.network.outbound.form:
        return settings.network.outbound.form
    if not any(pool.zones for pool in node_pools(settings).values()):
        return "nonzonal"
    offered = region(settings.region).nat_standard_v2 == "yes"
    return "zone-redundant" if offered and sends_standard_v2() else "zonal"


def subnet_zones(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Zones of the nodes in each subnet, by the subnet's key. A subnet's zones are empty if one of its pools leaves the
    choice of zones to Azure.
    """
    gpu = {name: _zones([pool]) for name, pool in settings.pools.items()}
    return {SYSTEM_SUBNET: _zones(list(shared_subnet_pools(settings).values())), **gpu}


def cut_off(ranges: Sequence[str], address: str | None) -> str | None:
    """Reason why nodes with the public address `address` would lose access to the API server, which accepts `ranges`
    only; None if the nodes keep the access.

    Args:
        ranges: CIDRs or addresses that the cluster accepts now; empty if it accepts all.
        address: public address of the nodes after the change; None if it does not exist yet.
    """
    if not ranges:
        return None
    if address is None:
        return "the address of its new NAT gateway does not exist yet, and the API server accepts known addresses only"
    if any(ip_address(address) in ip_network(each, strict=False) for each in ranges):
        return None
    return f"the API server does not accept {address}, the address of its new NAT gateway"


def _zones(pools: Iterable[NodePool]) -> tuple[str, ...]:
    zones = [pool.zones for pool in pools]
    return tuple(sorted({zone for each in zones for zone in each})) if all(zones) else ()


def _gateways(settings: Settings, form: OutboundForm) -> dict[str, Gateway]:
    zones = subnet_zones(settings)
    if form == "zone-redundant":
        redundant = Gateway("v2", "StandardV2", address_zones=region(settings.region).zones)
        return dict.fromkeys(zones, redundant)
    if form == "nonzonal":
        return dict.fromkeys(zones, NONZONAL)
    return {name: _zonal(own[0]) if len(own) == 1 else NONZONAL for name, own in zones.items()}


def _zonal(zone: str) -> Gateway:
    return Gateway(f"zone-{zone}", zones=(zone,), address_zones=(zone,))
