"""Private DNS, private endpoints, peerings, gateways, and the private API server: what the stand-in refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from simulator.azure.state import Directory
from tests.support.azure_fakes import GROUP, NETWORK, STANDARD_ADDRESS, Azure, space

ZONE_NAME = "dev.privatelink.westus2.azmk8s.io"
ZONE = {"resourceGroupName": GROUP, "privateZoneName": ZONE_NAME, "location": "global"}
LINK = {"resourceGroupName": GROUP, "privateZoneName": ZONE_NAME, "virtualNetworkLinkName": "own", "location": "global"}
ENDPOINT = {"resourceGroupName": GROUP, "privateEndpointName": "pep", "location": "westus2"}
PEERING = {"resourceGroupName": GROUP, "virtualNetworkName": "vnet", "virtualNetworkPeeringName": "hub"}
GATEWAY = {"resourceGroupName": GROUP, "virtualNetworkGatewayName": "vgw", "location": "westus2", "gatewayType": "Vpn"}
INBOUND = {"resourceGroupName": GROUP, "dnsResolverName": "dns", "inboundEndpointName": "in", "location": "westus2"}
SUBNET = {"resourceGroupName": GROUP, "virtualNetworkName": "vnet"}
DELEGATED = {"name": "d", "serviceName": "Microsoft.Network/dnsResolvers"}
AKS = {"name": "d", "serviceName": "Microsoft.ContainerService/managedClusters"}
VAULT = f"/subscriptions/s/resourceGroups/{GROUP}/providers/Microsoft.KeyVault/vaults/v"
SERVERS = {"dhcpOptions": {"dnsServers": ["10.0.0.4"]}}
ELSEWHERE = "/subscriptions/s/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/hub"


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Azure:
    """A network with a subnet for everything, a second network, a linked zone, a resolver and a VPN gateway."""
    made = Azure(Path(tmp_path_factory.mktemp("azure")) / "azure.json")
    made.network()
    made.identities()
    bare = {"natGateway": None, "networkSecurityGroup": None}
    made.subnet("endpoints", "10.100.2.0/26")
    made.subnet("api", "10.100.2.64/28", delegations=[AKS])
    made.subnet("dns", "10.100.2.80/28", delegations=[DELEGATED])
    made.subnet("dns2", "10.100.2.96/28", delegations=[DELEGATED])
    made.subnet("GatewaySubnet", "10.100.3.0/27", **bare)
    made.put("VirtualNetwork", virtualNetworkName="other", location="westus2", **space("10.100.128.0/17"))
    made.put("VirtualNetwork", virtualNetworkName="apart", location="westus2", **space("10.200.0.0/16"))
    made.put("PrivateDnsZone", **ZONE)
    plane = made.cloud.azure().get(made.id("Microsoft.ManagedIdentity/userAssignedIdentities/plane"))
    assert plane is not None
    made.assign("b12aa53e-6015-4669-85d0-8515ebb3ae7f", plane.outputs["principalId"], own_zone(made), 3)
    made.put("VirtualNetworkLink", **LINK, virtualNetwork={"id": network(made)})
    made.put("DnsResolver", dnsResolverName="dns", location="westus2", virtualNetwork={"id": network(made)})
    made.put("InboundEndpoint", **INBOUND, ipConfigurations=at(made, "dns", "10.100.2.84"))
    made.put("PublicIPAddress", publicIpAddressName="vpn", location="westus2", **STANDARD_ADDRESS)
    made.put("VirtualNetworkGateway", **gateway(made))
    return made


def network(azure: Azure, name: str = "vnet") -> str:
    return azure.id(f"{NETWORK}/virtualNetworks/{name}")


def subnet(azure: Azure, name: str) -> dict[str, str]:
    return {"id": f"{network(azure)}/subnets/{name}"}


def at(azure: Azure, name: str, address: str | None = None) -> list[dict[str, Any]]:
    return [{"subnet": subnet(azure, name), "privateIpAddress": address, "privateIpAllocationMethod": "Static"}]


def gateway(azure: Azure, place: str = "GatewaySubnet", **client: Any) -> dict[str, Any]:
    address = {"id": azure.id(f"{NETWORK}/publicIPAddresses/vpn")}
    entra = {"vpnAuthenticationTypes": ["AAD"], "vpnClientProtocols": ["OpenVPN"]}
    entra |= {"aadTenant": "t", "aadAudience": "a", "aadIssuer": "i"}
    pool = {"vpnClientAddressPool": {"addressPrefixes": ["192.168.200.0/24"]}}
    return {
        **GATEWAY,
        "vpnType": "RouteBased",
        "sku": {"name": "VpnGw1AZ", "tier": "VpnGw1AZ"},
        "ipConfigurations": [{"name": "default", "publicIPAddress": address, "subnet": subnet(azure, place)}],
        "vpnClientConfiguration": {**pool, **entra, **client},
    }


def endpoint(azure: Azure, group: str = "vault", place: str = "endpoints", **more: Any) -> dict[str, Any]:
    connection = {"name": "c", "privateLinkServiceId": VAULT, "groupIds": [group]}
    return {**ENDPOINT, "subnet": subnet(azure, place), "privateLinkServiceConnections": [connection], **more}


def private(azure: Azure, **access: Any) -> dict[str, Any]:
    return azure.cluster_inputs(apiServerAccessProfile={"enablePrivateCluster": True, **access})


def own_zone(azure: Azure) -> str:
    return azure.id(f"{NETWORK}/privateDnsZones/{ZONE_NAME}")


def test_a_network_with_all_of_it_breaks_no_rule(azure: Azure) -> None:
    assert not azure.rules("PrivateEndpoint", endpoint(azure))
    assert not azure.rules("VirtualNetworkGateway", gateway(azure))
    assert not azure.rules(
        "VirtualNetworkPeering", {**PEERING, "remoteVirtualNetwork": {"id": network(azure, "apart")}}
    )


@pytest.mark.parametrize(
    ("rule", "kind", "inputs"),
    [
        ("pdns-location", "PrivateDnsZone", {**ZONE, "location": "westus2"}),
        ("pdns-name", "PrivateDnsZone", {**ZONE, "privateZoneName": "local"}),
        ("pdns-link-vnet", "VirtualNetworkLink", {**LINK, "virtualNetworkLinkName": "two"}),
        ("arm-child-parent", "VirtualNetworkLink", {**LINK, "privateZoneName": "no.zone"}),
        (
            "route-hop",
            "RouteTable",
            {
                "resourceGroupName": GROUP,
                "routeTableName": "rt",
                "location": "westus2",
                "routes": [{"name": "r", "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance"}],
            },
        ),
        (
            "subnet-reserved-names",
            "Subnet",
            {**SUBNET, "subnetName": "GatewaySubnet", "addressPrefix": "10.100.3.0/27", "delegations": [DELEGATED]},
        ),
    ],
)
def test_a_resource_that_azure_refuses(azure: Azure, rule: str, kind: str, inputs: dict[str, Any]) -> None:
    assert rule in azure.rules(kind, inputs)


def test_a_network_is_linked_to_one_zone_of_a_name(azure: Azure) -> None:
    second = {**LINK, "virtualNetworkLinkName": "again", "virtualNetwork": {"id": network(azure)}}
    assert azure.rules("VirtualNetworkLink", second) == {"pdns-link-unique"}
    # A hub in a group that the stand-in does not have is outside the stack.
    assert not azure.rules("VirtualNetworkLink", {**second, "virtualNetwork": {"id": ELSEWHERE}})
    moved = {**LINK, "virtualNetwork": {"id": network(azure, "apart")}}
    assert azure.rules("VirtualNetworkLink", moved) == {"pdns-link-immutable"}


def test_private_endpoints_need_a_subnet_of_their_own_kind_and_a_sub_resource_that_exists(azure: Azure) -> None:
    assert azure.rules("PrivateEndpoint", endpoint(azure, group="blob")) == {"pe-group"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, place="dns")) == {"pe-subnet-used"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, place="GatewaySubnet")) == {"pe-subnet-used"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, place="none")) == {"pe-subnet"}
    assert azure.rules("PrivateEndpoint", endpoint(azure, privateLinkServiceConnections=[])) == {"pe-conn"}


def test_a_zone_group_names_zones_that_exist(azure: Azure) -> None:
    azure.put("PrivateEndpoint", **endpoint(azure))
    inputs = {"resourceGroupName": GROUP, "privateEndpointName": "pep", "privateDnsZoneGroupName": "default"}
    missing = [{"name": "vault", "privateDnsZoneId": azure.id(f"{NETWORK}/privateDnsZones/no.zone")}]
    assert azure.rules("PrivateDnsZoneGroup", {**inputs, "privateDnsZoneConfigs": missing}) == {"pe-zone"}
    twice = [{"name": name, "privateDnsZoneId": own_zone(azure)} for name in "ab"]
    assert azure.rules("PrivateDnsZoneGroup", {**inputs, "privateDnsZoneConfigs": twice}) == {"pe-zonegroup"}


def test_an_owner_of_another_subscription_approves_by_hand(azure: Azure) -> None:
    automatic = azure.put("PrivateEndpoint", **{**endpoint(azure), "privateEndpointName": "auto"})
    (connection,) = automatic.outputs["privateLinkServiceConnections"]
    assert connection["privateLinkServiceConnectionState"]["status"] == "Approved"
    by_hand = {
        "privateLinkServiceConnections": None,
        "manualPrivateLinkServiceConnections": [{"name": "c", "privateLinkServiceId": VAULT, "groupIds": ["vault"]}],
    }
    manual = azure.put("PrivateEndpoint", **{**endpoint(azure, **by_hand), "privateEndpointName": "manual"})
    (connection,) = manual.outputs["manualPrivateLinkServiceConnections"]
    assert connection["privateLinkServiceConnectionState"]["status"] == "Pending"


def test_peerings_do_not_overlap_and_use_one_gateway(azure: Azure) -> None:
    overlapping = {**PEERING, "remoteVirtualNetwork": {"id": network(azure, "other")}}
    assert azure.rules("VirtualNetworkPeering", overlapping) == {"vnet-peer-space"}
    with_gateway = {**PEERING, "remoteVirtualNetwork": {"id": ELSEWHERE}, "useRemoteGateways": True}
    assert azure.rules("VirtualNetworkPeering", with_gateway) == {"peer-gateway"}
    # The other network has no gateway, but no side of its own that allows transit either.
    apart = {**with_gateway, "virtualNetworkName": "apart", "remoteVirtualNetwork": {"id": network(azure)}}
    assert azure.rules("VirtualNetworkPeering", apart) == {"peer-gateway"}


def test_a_vpn_gateway_has_the_gateway_subnet_and_clients_of_another_range(azure: Azure) -> None:
    assert "vng-subnet" in azure.rules("VirtualNetworkGateway", gateway(azure, "endpoints"))
    second = {**gateway(azure), "virtualNetworkGatewayName": "two"}
    assert azure.rules("VirtualNetworkGateway", second) == {"vng-one"}
    pool: dict[str, Any] = {"vpnClientAddressPool": {"addressPrefixes": ["10.100.200.0/24"]}}
    assert azure.rules("VirtualNetworkGateway", gateway(azure, **pool)) == {"vng-client-pool"}
    assert azure.rules("VirtualNetworkGateway", gateway(azure, aadIssuer=None)) == {"vng-client-entra"}
    assert azure.rules("VirtualNetworkGateway", gateway(azure, vpnClientProtocols=["IkeV2"])) == {"vng-client-entra"}


def test_a_resolver_has_one_endpoint_in_a_subnet_delegated_to_it(azure: Azure) -> None:
    second = {**INBOUND, "inboundEndpointName": "two"}
    assert not azure.rules("InboundEndpoint", {**second, "ipConfigurations": at(azure, "dns2", "10.100.2.100")})
    assert azure.rules("InboundEndpoint", {**second, "ipConfigurations": at(azure, "dns2", "10.100.2.97")}) == {
        "dnsr-address"
    }
    assert azure.rules("InboundEndpoint", {**second, "ipConfigurations": at(azure, "dns2", "10.9.9.9")}) == {
        "dnsr-address"
    }
    assert "dnsr-subnet" in azure.rules("InboundEndpoint", {**second, "ipConfigurations": at(azure, "endpoints")})
    assert azure.rules("InboundEndpoint", {**second, "ipConfigurations": at(azure, "dns", "10.100.2.85")}) == {
        "dnsr-subnet"
    }
    assert "dnsr-fixed" in azure.rules(
        "InboundEndpoint", {**INBOUND, "ipConfigurations": at(azure, "dns", "10.100.2.85")}
    )
    resolver = {"resourceGroupName": GROUP, "dnsResolverName": "two", "location": "westus2"}
    assert azure.rules("DnsResolver", {**resolver, "virtualNetwork": {"id": network(azure)}}) == {"dnsr-one"}


def test_a_private_cluster_with_a_zone_of_its_own_needs_roles_on_zone_and_network(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    plane, kubelet = azure.identity("plane").outputs["principalId"], azure.identity("kubelet")
    azure.assign("f1a07417-d97a-45cb-824c-7a7467783830", plane, kubelet.id, 1)
    azure.assign("4d97b98b-1d4f-4787-a291-c67834d212e7", plane, azure.subnet_id, 2)
    inputs = private(azure, privateDNSZone=own_zone(azure), enablePrivateClusterPublicFQDN=False)
    assert "mc-private-dns-exists" in azure.rules("ManagedCluster", inputs)
    azure.put("PrivateDnsZone", **ZONE)
    assert azure.rules("ManagedCluster", inputs) == {"mc-private-dns-perm", "mc-private-dns-link-perm"}
    azure.assign("b12aa53e-6015-4669-85d0-8515ebb3ae7f", plane, own_zone(azure), 3)
    assert azure.rules("ManagedCluster", inputs) == {"mc-private-dns-link-perm"}
    azure.assign("4d97b98b-1d4f-4787-a291-c67834d212e7", plane, network(azure), 4)
    assert not azure.rules("ManagedCluster", inputs)
    made = azure.cloud.put("ManagedCluster", inputs, creating=True)
    assert made.outputs["privateFQDN"].endswith(ZONE_NAME)


def test_a_zone_of_another_subscription_needs_the_role_on_it_too(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    plane = azure.identity("plane").outputs["principalId"]
    zone = f"/subscriptions/other/resourceGroups/{GROUP}/providers/{NETWORK}/privateDnsZones"
    azure.put("VirtualNetwork", virtualNetworkName="vnet", location="westus2", **space("10.100.0.0/16"), **SERVERS)
    inputs = private(azure, privateDNSZone=f"{zone}/privatelink.westus2.azmk8s.io")
    assert azure.rules("ManagedCluster", inputs) == {"mc-private-dns-perm"}
    azure.assign("b12aa53e-6015-4669-85d0-8515ebb3ae7f", plane, f"{zone}/privatelink.westus2.azmk8s.io", 5)
    assert not azure.rules("ManagedCluster", inputs)
    other_region = private(azure, privateDNSZone=f"{zone}/privatelink.eastus.azmk8s.io")
    assert "mc-private-dns-name" in azure.rules("ManagedCluster", other_region)


def test_the_hubs_side_is_its_subscriptions_and_needs_a_right_there(tmp_path: Path) -> None:
    closed = "/subscriptions/closed"
    azure = Azure(tmp_path / "azure.json", options={"directory": Directory(closed=(closed,))})
    azure.network()
    deployer = azure.cloud.directory.deployer
    inputs = {**PEERING, "virtualNetworkName": "hub", "remoteVirtualNetwork": {"id": network(azure)}}
    made = azure.cloud.put("VirtualNetworkPeering", inputs, creating=True, subscription="other")
    assert made.id.startswith(f"/subscriptions/other/resourceGroups/{GROUP}/")
    azure.cloud.authorize(deployer, f"{NETWORK}/virtualNetworks/virtualNetworkPeerings/write", made.id)
    with pytest.raises(ArmError) as refused:
        azure.cloud.authorize(deployer, f"{NETWORK}/virtualNetworks/write", f"{closed}/resourceGroups/rg")
    assert refused.value.refusal.rule == "arm-forbidden"


def test_the_api_servers_subnet_is_delegated_and_its_zone_has_another_name(azure: Azure) -> None:
    integrated = {"enableVnetIntegration": True, "privateDNSZone": "system"}
    assert not azure.rules("ManagedCluster", private(azure, **integrated, subnetId=subnet(azure, "api")["id"]))
    wrong = private(azure, **integrated, subnetId=subnet(azure, "endpoints")["id"])
    assert azure.rules("ManagedCluster", wrong) == {"mc-vnet-integration"}
    named = {**integrated, "privateDNSZone": own_zone(azure)}
    found = azure.rules("ManagedCluster", private(azure, **named, subnetId=subnet(azure, "api")["id"]))
    assert found == {"mc-private-dns-name"}


def test_dns_servers_outside_the_network_must_resolve_the_zone(azure: Azure) -> None:
    servers = {"dhcpOptions": {"dnsServers": ["10.0.0.4"]}}
    azure.put("VirtualNetwork", virtualNetworkName="vnet", location="westus2", **space("10.100.0.0/16"), **servers)
    assert azure.rules("ManagedCluster", private(azure, privateDNSZone="system")) == {"mc-private-dns-lookup"}
    assert azure.rules("ManagedCluster", private(azure, privateDNSZone=own_zone(azure))) == {"mc-private-dns-lookup"}
    azure.put("VirtualNetworkLink", **{**LINK, "virtualNetworkLinkName": "hub"}, virtualNetwork={"id": ELSEWHERE})
    assert not azure.rules("ManagedCluster", private(azure, privateDNSZone=own_zone(azure)))
    # The resolver in the network itself asks Azure.
    inside = {"dhcpOptions": {"dnsServers": ["10.100.2.84"]}}
    azure.put("VirtualNetwork", virtualNetworkName="vnet", location="westus2", **space("10.100.0.0/16"), **inside)
    assert not azure.rules("ManagedCluster", private(azure, privateDNSZone="system"))


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("subnet-delete-used", "virtualNetworks/vnet/subnets/dns"),
        ("subnet-delete-used", "virtualNetworks/vnet/subnets/GatewaySubnet"),
        ("pip-delete-used", "publicIPAddresses/vpn"),
        ("pdns-delete", f"privateDnsZones/{ZONE_NAME}"),
    ],
)
def test_what_is_in_use_cannot_be_deleted(azure: Azure, rule: str, path: str) -> None:
    with pytest.raises(ArmError) as refused:
        azure.cloud.delete(azure.id(f"{NETWORK}/{path}"))
    assert refused.value.refusal.rule == rule


def test_nodes_behind_a_firewall_need_a_default_route(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    profile = {**azure.cluster_inputs()["networkProfile"], "outboundType": "userDefinedRouting"}
    hop = {"nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.0.1.4"}

    def routed(prefix: str) -> set[str]:
        routes = [{"name": "r", "addressPrefix": prefix, **hop}]
        table = azure.put("RouteTable", routeTableName="rt", location="westus2", routes=routes)
        azure.subnet("system", "10.100.0.0/24", natGateway=None, routeTable={"id": table.id})
        return azure.rules("ManagedCluster", azure.cluster_inputs(networkProfile=profile))

    assert azure.rules("ManagedCluster", azure.cluster_inputs(networkProfile=profile)) == {"net-udr-table"}
    assert routed("10.0.0.0/8") == {"net-udr-table"}
    assert not routed("0.0.0.0/0")
    with pytest.raises(ArmError) as refused:
        azure.cloud.delete(azure.id(f"{NETWORK}/routeTables/rt"))
    assert refused.value.refusal.rule == "route-delete-used"
