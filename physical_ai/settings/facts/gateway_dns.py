"""DNS record of OSMO's gateway: its name in the zone, and its target, both known before a load balancer exists."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from physical_ai.settings.facts.naming import subnet_name
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET
from physical_ai.settings.models.osmo_access import OsmoAccess
from physical_ai.settings.models.tree import Settings

APEX = "@"
"""Name of a record for the zone itself."""
TTL_SECONDS = 300
LABEL, INTERNAL, SUBNET, ADDRESS = (
    f"service.beta.kubernetes.io/azure-{name}"
    for name in ("dns-label-name", "load-balancer-internal", "load-balancer-internal-subnet", "load-balancer-ipv4")
)
"""Annotations of the gateway's Service: DNS label of the public address, internal load balancer, subnet of the internal
load balancer, and its IPv4 address (cloud-provider-azure docs, topics/loadbalancer; AKS docs, internal-lb and
configure-load-balancer-standard).
"""
_UNIQUE = uuid.UUID("3b0e6c56-6b0e-5b3e-9a68-0b9a6d2f7c11")


@dataclass(frozen=True)
class GatewayRecord:
    """DNS record of the gateway.

    `resource_group` is None if the stack creates the zone as a private zone. Exactly one of `address` and `alias` is
    set.
    """

    zone: str
    name: str
    resource_group: str | None
    address: IPv4Address | None = None
    """Address of an internal load balancer, for an A record."""
    alias: str | None = None
    """Name that Azure gives to the address of a public load balancer, for a CNAME record."""


def gateway_record(settings: Settings) -> GatewayRecord | None:
    """DNS record of the gateway; None for a stack that declares no such record, and for a host outside of the zone."""
    access = settings.osmo.access
    if not settings.osmo.installs_service or access.dns is None or access.host is None:
        return None
    name = relative_name(access.host, access.dns.zone)
    if name is None:
        return None
    if access.scope == "public":
        alias = f"{dns_label(settings)}.{settings.region}.cloudapp.azure.com"
        return GatewayRecord(access.dns.zone, name, access.dns.resource_group, alias=alias)
    address = access.dns.address or last_address(settings.network.system_subnet)
    return GatewayRecord(access.dns.zone, name, access.dns.resource_group, address=address)


def relative_name(host: str, zone: str) -> str | None:
    """Name of the host relative to the zone; None if the host is in another zone.

    >>> relative_name("osmo.contoso.com", "contoso.com")
    'osmo'
    """
    if host == zone:
        return APEX
    return host.removesuffix(f".{zone}") if host.endswith(f".{zone}") else None


def last_address(subnet: IPv4Network) -> IPv4Address:
    """Last address in the subnet that Azure does not reserve. Nodes get the lowest free addresses."""
    return subnet.broadcast_address - 1


def dns_label(settings: Settings) -> str:
    """DNS label of the gateway's public address, from which Azure makes the address's DNS name.

    The label has to be unique in the region, and has at most 63 characters.
    """
    digits = uuid.uuid5(_UNIQUE, f"{settings.stack}/{settings.osmo.access.host}").hex[:8]
    return f"osmo-{settings.stack[:40]}-{digits}"


def balancer_annotations(settings: Settings) -> dict[str, str]:
    """Annotations of the gateway's Service."""
    access: OsmoAccess = settings.osmo.access
    found = {INTERNAL: "true"} if access.scope == "internal" else {}
    record = gateway_record(settings)
    if record is not None and record.address is not None:
        found |= {SUBNET: subnet_name(SYSTEM_SUBNET), ADDRESS: str(record.address)}
    elif record is not None:
        found[LABEL] = dns_label(settings)
    return found
