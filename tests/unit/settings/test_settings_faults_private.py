"""Networks in the modes hybrid and private that cannot work, and what follows from those that can."""

from __future__ import annotations

import pytest

from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.network_access import private_api_server, private_endpoints, public_access
from physical_ai.settings.facts.outbound import outbound_facts
from physical_ai.settings.facts.private_network import (
    assigns_zone_role,
    dns_servers,
    existing_api_zone,
    own_api_zone,
    service_subnets,
)
from physical_ai.settings.models.tree import Settings
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of, warned

HUB = "/subscriptions/s/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/hub"
TENANT = "22222222-2222-4222-8222-222222222222"
PRIVATE = ("network.mode=private", "network.private.endpointSubnet=10.40.3.0/26")
INSIDE = (*PRIVATE, "network.private.runnersInside=true")
VPN = (
    "network.private.vpn.gatewaySubnet=10.40.3.64/27",
    "network.private.vpn.clientRange=192.168.200.0/24",
    f"network.private.vpn.tenantId={TENANT}",
)
RESOLVER = "network.private.resolver.subnet=10.40.3.96/28"
PEERED = (f"network.private.hub.virtualNetworkId={HUB}", "network.private.hub.addressSpaces=[10.0.0.0/16]")
DNS = "network.private.hub.dnsServers=[10.0.0.4]"
ZONES = "network.private.hub.dnsZones=/subscriptions/s/resourceGroups/rg-dns"
API_ZONE = (
    "network.private.apiServer.dnsZone=/subscriptions/o/resourceGroups/rg-dns/providers/Microsoft.Network"
    "/privateDnsZones/a"
)
INTEGRATED = "network.private.apiServer.form=vnetIntegration"

FAULTS = [
    (("network.mode=private",), "network.mode", "needs a subnet", "endpointSubnet"),
    (("network.mode=hybrid",), "network.mode", "needs a subnet", "endpointSubnet"),
    (PRIVATE, "network.mode", "no way in", "network.private.vpn"),
    (
        (*INSIDE, "cluster.apiAccess.authorizedIpRanges=[20.30.40.0/28]"),
        "cluster.apiAccess.authorizedIpRanges",
        "no public address",
        "[]",
    ),
    ((*INSIDE, INTEGRATED), "network.private.apiServer", "needs a subnet", "/28"),
    (
        (*INSIDE, "network.private.apiServer.subnet=10.40.3.96/28"),
        "network.private.apiServer.subnet",
        "vnetIntegration",
        "Remove",
    ),
    (
        (*INSIDE, "network.mode=hybrid", "network.private.apiServer.dnsZone=none"),
        "network.private.apiServer",
        "public in the mode hybrid",
        "mode: private",
    ),
    ((*PRIVATE, *VPN), "network.private.vpn", "inside the network only", "resolver"),
    (
        (*PRIVATE, *PEERED, DNS, "network.private.apiServer.dnsZone=system"),
        "network.private.apiServer.dnsZone",
        "never join",
        "stack",
    ),
    ((*PRIVATE, *PEERED, ZONES), "network.private.hub.dnsZones", "none is named", "dnsServers"),
    ((*INSIDE, f"{API_ZONE}.privatelink.eastus.azmk8s.io"), "apiServer.dnsZone", "in westus2", "privatelink.westus2"),
    ((*INSIDE, f"{API_ZONE}.b.privatelink.westus2.azmk8s.io"), "apiServer.dnsZone", "AKS refuses", "<label>"),
    ((*INSIDE, f"{API_ZONE}.private.westus2.azmk8s.io"), "apiServer.dnsZone", "AKS refuses", "privatelink"),
    ((*INSIDE, "network.private.apiServer.dnsZone=mine"), "apiServer.dnsZone", "resource id of a private DNS zone", ""),
    (
        (*PRIVATE, *VPN, RESOLVER, *PEERED, "network.private.hub.useGateway=true"),
        "network.private.hub.useGateway",
        "own",
        "vpn",
    ),
    (
        (*PRIVATE, *PEERED, "network.private.hub.addressSpaces=[10.40.128.0/17]"),
        "network.private.hub.addressSpaces",
        "refuses the peering",
        "another",
    ),
    (
        (*PRIVATE, *PEERED, "network.private.hub.addressSpaces=[10.244.0.0/20]"),
        "network.private.hub.addressSpaces",
        "overlaps",
        "another",
    ),
    (
        (*PRIVATE, *VPN, RESOLVER, "network.private.vpn.clientRange=10.40.200.0/24"),
        "network.private.vpn.clientRange",
        "overlaps",
        "192.168",
    ),
    (
        (*PRIVATE, *VPN, RESOLVER, "network.private.vpn.clientRange=52.0.0.0/24"),
        "network.private.vpn.clientRange",
        "not private",
        "192.168",
    ),
    ((*INSIDE, "network.private.endpointSubnet=10.40.3.0/29"), "network.private.endpointSubnet", "too small", "/28"),
    ((*INSIDE, "network.private.endpointSubnet=10.40.1.0/26"), "network.private.endpointSubnet", "overlap", "is free"),
    ((*INSIDE, "network.private.endpointSubnet=10.99.0.0/26"), "network.private.endpointSubnet", "outside", "is free"),
    ((*INSIDE, "network.private.resolver.subnet=10.40.16.0/23"), "network.private.resolver.subnet", "too large", "/24"),
    (
        (*PRIVATE, *VPN, RESOLVER, "network.private.vpn.gatewaySubnet=10.40.3.64/28"),
        "network.private.vpn.gatewaySubnet",
        "too small",
        "/27",
    ),
    ((*INSIDE, "network.private.firewall.address=10.0.1.4"), "network.private.firewall.address", "no packet", "hub"),
    (
        (*PRIVATE, *PEERED, "network.private.firewall.address=10.0.1.4", "network.outbound.form=zonal"),
        "network.outbound",
        "no NAT gateways",
        "Remove",
    ),
    (
        (
            *PRIVATE,
            *PEERED,
            "network.mode=hybrid",
            "network.private.firewall.address=10.0.1.4",
            "cluster.apiAccess.authorizedIpRanges=[20.30.40.0/28]",
        ),
        "network.private.firewall.publicAddresses",
        "never join",
        "publicAddresses",
    ),
]


@in_one_test(("assignments", "path", "problem", "fix"), FAULTS)
def test_private_networks_that_cannot_work(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    found = faults_of(*assignments)
    matching = [fault for fault in found if path in fault.where and problem in fault.problem]
    assert matching, found
    assert any(fix in (fault.fix or "") for fault in matching), matching


def test_a_fault_is_reported_at_the_setting_that_was_laid_over() -> None:
    expect(faults_of("network.mode=private"), "network.mode", "needs a subnet", "endpointSubnet")


def test_settings_of_private_networks_have_no_effect_in_public() -> None:
    (found,) = [each for each in warned("network.private.endpointSubnet=10.40.3.0/26") if "no effect" in each.problem]
    assert found.where.startswith("network.private")
    assert service_subnets(stack("network.private.endpointSubnet=10.40.3.0/26")) == ()


def stack(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(assignments)]).settings


@pytest.mark.parametrize(
    ("assignments", "data", "api"),
    [((), True, False), ((*PRIVATE, "network.mode=hybrid"), False, False), (INSIDE, False, True)],
)
def test_what_each_mode_leaves_public(assignments: tuple[str, ...], data: bool, api: bool) -> None:
    settings = stack(*assignments)
    assert public_access(settings) is data
    assert private_endpoints(settings) is not data
    assert private_api_server(settings) is api


def test_subnets_follow_from_what_a_private_network_has() -> None:
    settings = stack(*PRIVATE, *VPN, RESOLVER, INTEGRATED, "network.private.apiServer.subnet=10.40.3.112/28")
    found = service_subnets(settings)
    assert {each.name: (str(each.cidr), each.delegation, each.has_security_group) for each in found} == {
        "snet-private-endpoints": ("10.40.3.0/26", None, True),
        "snet-api-server": ("10.40.3.112/28", "Microsoft.ContainerService/managedClusters", True),
        "snet-dns-resolver": ("10.40.3.96/28", "Microsoft.Network/dnsResolvers", True),
        "GatewaySubnet": ("10.40.3.64/27", None, False),
    }
    assert own_api_zone(settings) == "dev-westus2.private.westus2.azmk8s.io"


def test_vpn_clients_get_the_resolver_and_a_hub_its_own_servers() -> None:
    assert dns_servers(stack(*INSIDE, RESOLVER)) == ()
    assert dns_servers(stack(*PRIVATE, *VPN, RESOLVER)) == ("10.40.3.100",)
    assert dns_servers(stack(*PRIVATE, *PEERED, DNS)) == ("10.0.0.4",)


def test_the_zone_of_the_api_server_is_the_stacks_own_unless_aks_makes_one() -> None:
    assert own_api_zone(stack(*INSIDE)) == "dev-westus2.privatelink.westus2.azmk8s.io"
    assert own_api_zone(stack(*INSIDE, "network.private.apiServer.dnsZone=system")) is None
    assert own_api_zone(stack(*PRIVATE, "network.mode=hybrid")) is None


def test_an_existing_zone_is_the_regions_or_a_subdomain_of_it() -> None:
    settings = stack(*INSIDE, f"{API_ZONE}.privatelink.westus2.azmk8s.io")
    assert existing_api_zone(settings) == f"{API_ZONE.partition('=')[2]}.privatelink.westus2.azmk8s.io"
    assert own_api_zone(settings) is None
    assert assigns_zone_role(settings)
    whole = f"{API_ZONE.removesuffix('/a')}/privatelink.westus2.azmk8s.io"
    assert not assigns_zone_role(stack(*INSIDE, whole, "network.private.apiServer.zoneRole=given"))
    assert existing_api_zone(stack(*INSIDE)) is None
    (found,) = [w for w in warned(*INSIDE, "network.private.apiServer.zoneRole=given") if "zoneRole" in w.where]
    assert "no effect" in found.problem


def test_behind_a_firewall_there_are_no_nat_gateways() -> None:
    assert outbound_facts(stack(*PRIVATE, *PEERED, "network.private.firewall.address=10.0.1.4")).gateways == ()
