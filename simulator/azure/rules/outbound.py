"""Rules of Microsoft.Network on outbound traffic: NAT gateways and public addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

DNS_LABEL = re.compile(r"^[a-z][a-z0-9-]{1,61}[a-z0-9]$")
NAT_SKUS = ("Standard", "StandardV2")
"""SKUs of NAT gateways. A gateway accepts only public addresses of its own SKU."""


@on_put(("NatGateway", "PublicIPAddress"), "nat-v2-region")
def standard_v2(put: Put) -> Iterator[Refusal]:
    region = put.azure.offers.region(str(put.body.get("location", "")))
    if get(put.body, "sku.name") == "StandardV2" and region is not None and region.standard_v2 != "yes":
        yield refuse(put, "nat-v2-region", f"{region.name} does not support the SKU StandardV2.", "sku.name")


@on_put(("NatGateway", "PublicIPAddress", "PostgresServer"), "zones-region")
def zones_of_the_region(put: Put) -> Iterator[Refusal]:
    region = put.azure.offers.region(str(put.body.get("location", "")))
    own = put.properties.get("availabilityZone")
    zones = [str(each) for each in (*items(put.body, "zones"), *((own,) if own else ()))]
    missing = [each for each in zones if region is not None and each not in region.zones]
    if region is not None and missing:
        message = (
            f"The zone(s) '{', '.join(missing)}' for resource '{ids.name(put.id)}' is not supported. The supported"
        )
        message += f" zones for location '{region.name}' are '{','.join(region.zones)}'"
        yield refuse(put, "zones-region", message, "properties.availabilityZone" if own else "zones")


@on_put(
    "NatGateway",
    "nat-sku",
    "nat-idle",
    "nat-zones",
    "nat-v2-zones",
    "nat-pip-sku",
    "nat-pip-used",
    "nat-pip-zone",
    "nat-pip-count",
)
def nat_gateway(put: Put) -> Iterator[Refusal]:
    sku = get(put.body, "sku.name")
    if sku not in NAT_SKUS:
        yield refuse(put, "nat-sku", "A NAT gateway needs sku Standard or StandardV2.", "sku.name")
    idle, zones = put.properties.get("idleTimeoutInMinutes"), items(put.body, "zones")
    if idle is not None and not 4 <= idle <= 120:
        yield refuse(
            put, "nat-idle", f"idleTimeoutInMinutes {idle} is outside 4..120.", "properties.idleTimeoutInMinutes"
        )
    if len(zones) > 1 and sku == "Standard":
        yield refuse(put, "nat-zones", "A Standard NAT gateway is in one zone or none.", "zones")
    if zones and sku == "StandardV2":
        yield refuse(put, "nat-v2-zones", "A StandardV2 NAT gateway spans the region's zones; omit zones.", "zones")
    addresses, target = items(put.properties, "publicIpAddresses"), "properties.publicIpAddresses"
    if len(addresses) > 16:
        yield refuse(put, "nat-pip-count", f"{len(addresses)} public IP addresses; at most 16.", target)
    for reference in addresses:
        address = put.azure.get(reference.get("id"), "PublicIPAddress")
        if address is None:
            continue
        name = ids.name(address.id)
        version = get(address.body, "properties.publicIPAddressVersion") or "IPv4"
        if get(address.body, "sku.name") != sku or version != "IPv4":
            yield refuse(put, "nat-pip-sku", f"Public IP {name} must be a {sku} static IPv4 address.", target)
        for other in put.azure.of_kind("NatGateway"):
            taken = items(other.body, "properties.publicIpAddresses")
            if not ids.same(other.id, put.id) and any(ids.same(t.get("id"), address.id) for t in taken):
                message = f"Public IP {name} is in use by NAT gateway {ids.name(other.id)}."
                yield refuse(put, "nat-pip-used", message, target)
        theirs = items(address.body, "zones")
        if len(theirs) == 1 and zones and theirs != zones:
            yield refuse(
                put, "nat-pip-zone", f"Public IP {name} is in zone {theirs[0]}, the gateway in {zones}.", target
            )


@on_put("PublicIPAddress", "pip-basic", "pip-standard-static", "pip-idle", "pip-dns")
def public_address(put: Put) -> Iterator[Refusal]:
    sku, method = get(put.body, "sku.name") or "Basic", put.properties.get("publicIPAllocationMethod") or "Dynamic"
    if sku == "Basic" and put.old is None:
        yield refuse(put, "pip-basic", "Basic public IP addresses are retired; use sku Standard.", "sku.name")
    if sku in NAT_SKUS and method != "Static":
        message = f"A {sku} public IP address must be Static."
        yield refuse(put, "pip-standard-static", message, "properties.publicIPAllocationMethod")
    idle = put.properties.get("idleTimeoutInMinutes")
    if idle is not None and not 4 <= idle <= 30:
        yield refuse(
            put, "pip-idle", f"idleTimeoutInMinutes {idle} is outside 4..30.", "properties.idleTimeoutInMinutes"
        )
    label = get(put.properties, "dnsSettings.domainNameLabel")
    if label is None:
        return
    target = "properties.dnsSettings.domainNameLabel"
    if not DNS_LABEL.match(label):
        yield refuse(put, "pip-dns", f"Domain name label '{label}' is invalid.", target, "DomainNameLabelInvalid")
    for other in put.azure.of_kind("PublicIPAddress"):
        theirs = get(other.body, "properties.dnsSettings.domainNameLabel")
        same_place = other.location == str(put.body.get("location", "")).replace(" ", "").lower()
        if theirs == label and same_place and not ids.same(other.id, put.id):
            message = f"DNS record {label} is already used by another public IP."
            yield refuse(put, "pip-dns", message, target, "DnsRecordInUse")
