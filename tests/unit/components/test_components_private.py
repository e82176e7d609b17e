"""Networks in the modes hybrid and private: what is declared, and what the cluster waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.catalog.aks import Role
from tests.support.recording import Recording
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.policies import Resource, evaluate

CLUSTER = "ManagedCluster"
HUB = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/hub"
TENANT = "22222222-2222-4222-8222-222222222222"
ENDPOINTS: dict[str, Any] = {"endpointSubnet": "10.40.3.0/26"}
VPN = {"gatewaySubnet": "10.40.3.64/27", "clientRange": "192.168.200.0/24", "tenantId": TENANT}
RESOLVER = {"subnet": "10.40.3.96/28"}
PEERED = {"virtualNetworkId": HUB, "addressSpaces": ["10.0.0.0/16"], "dnsServers": ["10.0.0.4"], "useGateway": True}


def network(mode: str, **private: Any) -> dict[str, Any]:
    return {"network": {"mode": mode, "private": {**ENDPOINTS, **private}}}


def only(stack: Recording, type_: str, **inputs: Any) -> Resource:
    (found,) = [each for each in stack.of_type(type_) if inputs.items() <= each.inputs.items()]
    return found


def waits_for(resource: Resource) -> set[str]:
    return {urn.rpartition("::")[2] for urn in resource.options.depends_on}


def test_a_public_stack_has_nothing_of_it(simulate: Simulate) -> None:
    stack = simulate("dev-westus2")
    for absent in ("PrivateZone", "RouteTable", "VirtualNetworkPeering", "DnsResolver", "PrivateEndpoint"):
        assert not stack.of_type(absent)
    assert "enablePrivateCluster" not in stack.of_type(CLUSTER)[0].inputs["apiServerAccessProfile"]
    assert "dhcpOptions" not in stack.of_type("VirtualNetwork")[0].inputs


def test_a_private_cluster_has_its_zone_and_its_roles_before_it_exists(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", vpn=VPN, resolver=RESOLVER))
    cluster, zone = stack.of_type(CLUSTER)[0], only(stack, "PrivateZone")
    assert zone.inputs["privateZoneName"] == "dev-westus2.privatelink.westus2.azmk8s.io"
    assert zone.inputs["location"] == "global"
    access: Mapping[str, Any] = cluster.inputs["apiServerAccessProfile"]
    assert access["enablePrivateCluster"] is True
    assert access["enablePrivateClusterPublicFQDN"] is False
    assert access["privateDNSZone"].endswith(f"/privateDnsZones/{zone.inputs['privateZoneName']}")
    assert "authorizedIPRanges" not in access
    roles = {
        each.name: each.inputs["roleDefinitionId"].rpartition("/")[2]
        for each in stack.of_type("RoleAssignment")
        if "api-zone" in each.name
    }
    assert sorted(roles.values()) == sorted([Role.PRIVATE_DNS_ZONE_CONTRIBUTOR, Role.NETWORK_CONTRIBUTOR])
    link = only(stack, "VirtualNetworkLink")
    assert {*roles, link.name} <= waits_for(cluster)


def test_nodes_find_the_resolver_that_vpn_clients_are_given(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", vpn=VPN, resolver=RESOLVER))
    inbound = only(stack, "InboundEndpoint")
    (address,) = inbound.inputs["ipConfigurations"]
    assert address["privateIpAddress"] == "10.40.3.100"
    assert stack.of_type("VirtualNetwork")[0].inputs["dhcpOptions"] == {"dnsServers": ["10.40.3.100"]}
    cluster = stack.of_type(CLUSTER)[0]
    assert inbound.name in waits_for(cluster)
    # It takes half an hour, and no node needs it.
    assert only(stack, "VirtualNetworkGateway").name not in waits_for(cluster)


def test_vpn_clients_log_in_with_entra_and_no_certificate(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", vpn=VPN, resolver=RESOLVER))
    gateway = only(stack, "VirtualNetworkGateway").inputs
    client = gateway["vpnClientConfiguration"]
    assert (client["vpnAuthenticationTypes"], client["vpnClientProtocols"]) == (["AAD"], ["OpenVPN"])
    assert client["aadIssuer"] == f"https://sts.windows.net/{TENANT}/"
    assert "vpnClientRootCertificates" not in client
    subnet = only(stack, "Subnet", subnetName="GatewaySubnet").inputs
    assert not {"natGateway", "networkSecurityGroup"} & set(subnet)


def test_subnets_are_written_one_after_the_other(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", vpn=VPN, resolver=RESOLVER))
    subnets = {
        each.name: waits_for(each) & {s.name for s in stack.of_type("Subnet")} for each in stack.of_type("Subnet")
    }
    assert sorted(map(len, subnets.values())) == [0, *[1] * (len(subnets) - 1)]
    assert len({each for waited in subnets.values() for each in waited}) == len(subnets) - 1


def test_with_vnet_integration_the_control_plane_may_join_the_api_servers_subnet(simulate: Simulate) -> None:
    api = {"form": "vnetIntegration", "subnet": "10.40.3.112/28"}
    stack = simulate("dev-westus2", network("private", runnersInside=True, apiServer=api))
    access = stack.of_type(CLUSTER)[0].inputs["apiServerAccessProfile"]
    assert access["enableVnetIntegration"] is True
    assert access["subnetId"].endswith("/subnets/snet-api-server")
    assert only(stack, "PrivateZone").inputs["privateZoneName"] == "dev-westus2.private.westus2.azmk8s.io"
    joins = [each for each in stack.of_type("RoleAssignment") if each.inputs["scope"] == access["subnetId"]]
    assert [each.inputs["roleDefinitionId"].rpartition("/")[2] for each in joins] == [Role.NETWORK_CONTRIBUTOR]
    assert joins[0].name in waits_for(stack.of_type(CLUSTER)[0])


@pytest.mark.deep  # in `make test`: a zone of the stack above
def test_a_zone_of_aks_needs_no_roles_and_public_dns_needs_the_public_name(simulate: Simulate) -> None:
    for zone, has_public_name in (("system", False), ("none", True)):
        stack = simulate("dev-westus2", network("private", runnersInside=True, apiServer={"dnsZone": zone}))
        access = stack.of_type(CLUSTER)[0].inputs["apiServerAccessProfile"]
        assert (access["privateDNSZone"], access["enablePrivateClusterPublicFQDN"]) == (zone, has_public_name)
        assert not stack.of_type("PrivateZone")


def test_the_peering_exists_on_both_sides_before_the_cluster(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", hub=PEERED))
    own, theirs = (
        only(stack, "VirtualNetworkPeering", virtualNetworkName=name)
        for name in ("vnet-physical-ai-dev-westus2", "hub")
    )
    assert (own.inputs["useRemoteGateways"], theirs.inputs["allowGatewayTransit"]) == (True, True)
    assert theirs.inputs["resourceGroupName"] == "rg-hub"
    assert theirs.name in waits_for(own)
    assert {own.name, theirs.name} <= waits_for(stack.of_type(CLUSTER)[0])
    assert {each.inputs["virtualNetwork"]["id"].rpartition("/")[2] for each in stack.of_type("VirtualNetworkLink")} == {
        "vnet-physical-ai-dev-westus2",
        "hub",
    }


@pytest.mark.deep  # in `make test`: both sides above
def test_someone_else_may_create_the_hubs_side(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", hub={**PEERED, "peerBack": False}))
    assert only(stack, "VirtualNetworkPeering").inputs["virtualNetworkName"] == "vnet-physical-ai-dev-westus2"


def test_behind_a_firewall_every_node_subnet_has_the_route_and_no_gateway(simulate: Simulate) -> None:
    firewall = {"address": "10.0.1.4", "publicAddresses": ["20.30.40.50"]}
    overrides = network("hybrid", hub=PEERED, firewall=firewall)
    stack = simulate("dev-westus2", {**overrides, "cluster": {"apiAccess": {"authorizedIpRanges": ["20.30.40.0/28"]}}})
    cluster = stack.of_type(CLUSTER)[0].inputs
    assert cluster["networkProfile"]["outboundType"] == "userDefinedRouting"
    assert cluster["apiServerAccessProfile"]["authorizedIPRanges"] == ["20.30.40.0/28", "20.30.40.50/32"]
    (route,) = only(stack, "RouteTable").inputs["routes"]
    assert (route["addressPrefix"], route["nextHopIpAddress"]) == ("0.0.0.0/0", "10.0.1.4")
    nodes = [each.inputs for each in stack.of_type("Subnet") if each.inputs["subnetName"] != "snet-private-endpoints"]
    assert all("natGateway" not in each and each["routeTable"]["id"] for each in nodes)
    assert not stack.of_type("NatGateway")
    assert not stack.of_type("PublicIPAddress")


def test_what_aks_fixes_of_the_api_server_replaces_the_cluster(simulate: Simulate) -> None:
    replaces = simulate("dev-westus2").of_type(CLUSTER)[0].options.replace_on_changes
    assert "apiServerAccessProfile.enablePrivateCluster" in replaces
    assert "apiServerAccessProfile.privateDNSZone" in replaces
    # These change in place.
    assert not any("authorizedIPRanges" in each or each == "apiServerAccessProfile" for each in replaces)


def test_a_private_stack_closes_its_data_services_and_registers_each_endpoint(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", {**network("private", hub=PEERED), "dataServices": {"source": "azure"}})
    endpoints = {each.inputs["privateEndpointName"]: each for each in stack.of_type("PrivateEndpoint")}
    groups = [each.inputs["privateLinkServiceConnections"][0]["groupIds"][0] for each in endpoints.values()]
    assert sorted(groups) == ["blob", "postgresqlServer", "redisEnterprise", "registry", "vault"]
    assert {each.inputs["privateEndpointName"] for each in stack.of_type("PrivateDnsZoneGroup")} == set(endpoints)
    assert all(each.inputs["subnet"]["id"].endswith("/snet-private-endpoints") for each in endpoints.values())
    assert "privatelink.redis.azure.net" in {each.inputs["privateZoneName"] for each in stack.of_type("PrivateZone")}
    assert [each for each in evaluate(stack.stack) if "private" in each.rule] == []


@pytest.mark.deep  # in `make test`: a private stack with zones above
def test_a_hub_with_the_zones_gets_the_registrations_and_no_zones(simulate: Simulate) -> None:
    zones = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-dns"
    hub = {**PEERED, "dnsZones": zones}
    stack = simulate("dev-westus2", {**network("hybrid", hub=hub), "dataServices": {"source": "azure"}})
    assert not stack.of_type("PrivateZone")
    groups = [each.inputs["privateDnsZoneConfigs"][0] for each in stack.of_type("PrivateDnsZoneGroup")]
    root = f"{zones}/providers/Microsoft.Network/privateDnsZones/privatelink."
    assert len(groups) == 5
    assert all(each["privateDnsZoneId"].startswith(root) for each in groups)
