"""Networks: ranges, NAT, addresses, security groups, and what is in use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError, places
from tests.support.azure_fakes import GROUP, NETWORK, STANDARD, STANDARD_ADDRESS, Azure, space

VNET = {"resourceGroupName": GROUP, "virtualNetworkName": "vnet", "location": "westus2"}
SUBNET = {"resourceGroupName": GROUP, "virtualNetworkName": "vnet", "subnetName": "new"}
NAT = {"resourceGroupName": GROUP, "natGatewayName": "nat2", "location": "westus2", "sku": STANDARD}
ADDRESS = {"resourceGroupName": GROUP, "publicIpAddressName": "pip2", "location": "westus2", **STANDARD_ADDRESS}
KNOWS_V2 = {"azureApiVersion": "2025-01-01"}
"""An API version that is published with the SKU StandardV2; the one that azure-native sends, 2024-05-01, is not."""
V2: dict[str, Any] = {**KNOWS_V2, "sku": {"name": "StandardV2"}}
V2_ADDRESS = {**ADDRESS, "publicIpAddressName": "v2", **V2}
NSG = {"resourceGroupName": GROUP, "networkSecurityGroupName": "nsg2", "location": "westus2"}
OPEN: dict[str, Any] = {
    "name": "https",
    "priority": 100,
    "direction": "Inbound",
    "access": "Allow",
    "protocol": "Tcp",
    "sourceAddressPrefix": "*",
    "sourcePortRange": "*",
    "destinationAddressPrefix": "*",
    "destinationPortRange": "443",
}
RULE = {
    "resourceGroupName": GROUP,
    "networkSecurityGroupName": "nsg",
    "securityRuleName": "https",
    **{key: value for key, value in OPEN.items() if key != "name"},
}


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Azure:
    made = Azure(Path(tmp_path_factory.mktemp("azure")) / "azure.json")
    made.platform()
    made.put("PublicIPAddress", **ADDRESS)
    return made


def many(*sources: str) -> dict[str, Any]:
    """Inputs of a rule with several sources."""
    return {"sourceAddressPrefix": None, "sourceAddressPrefixes": list(sources)}


def rules(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"securityRules": list(rows)}


@pytest.mark.parametrize(
    ("rule", "kind", "inputs"),
    [
        (None, "VirtualNetwork", {**VNET, **space("10.100.0.0/15")}),
        ("vnet-space-required", "VirtualNetwork", {**VNET, "virtualNetworkName": "other"}),
        ("vnet-cidr", "VirtualNetwork", {**VNET, "virtualNetworkName": "other", **space("10.1.0.1/16")}),
        ("vnet-size", "VirtualNetwork", {**VNET, "virtualNetworkName": "other", **space("10.1.0.0/30")}),
        ("vnet-space-overlap", "VirtualNetwork", {**VNET, **space("10.100.0.0/16", "10.100.1.0/24")}),
        ("vnet-shrink", "VirtualNetwork", {**VNET, **space("10.100.0.0/24")}),
        ("vnet-name", "VirtualNetwork", {**VNET, "virtualNetworkName": "x", **space("10.1.0.0/16")}),
        ("arm-location-change", "VirtualNetwork", {**VNET, "location": "swedencentral", **space("10.100.0.0/16")}),
        (None, "VirtualNetwork", {**VNET, "location": "West US 2", **space("10.100.0.0/16")}),
        (None, "Subnet", {**SUBNET, "addressPrefix": "10.100.7.0/24"}),
        ("subnet-in-vnet", "Subnet", {**SUBNET, "addressPrefix": "10.101.7.0/24"}),
        ("subnet-overlap", "Subnet", {**SUBNET, "addressPrefix": "10.100.1.128/25"}),
        ("subnet-one-prefix-form", "Subnet", SUBNET),
        ("subnet-name", "Subnet", {**SUBNET, "subnetName": "_x", "addressPrefix": "10.100.7.0/24"}),
        ("subnet-resize-used", "Subnet", {**SUBNET, "subnetName": "system", "addressPrefix": "10.100.0.0/25"}),
        ("subnet-sharing", "Subnet", {**SUBNET, "addressPrefix": "10.100.7.0/24", "sharingScope": "Tenant"}),
        ("arm-ref-missing", "Subnet", {**SUBNET, "addressPrefix": "10.100.7.0/24", "natGateway": {"id": "/nat"}}),
        ("arm-child-parent", "Subnet", {**SUBNET, "virtualNetworkName": "none", "addressPrefix": "10.100.7.0/24"}),
        ("nat-sku", "NatGateway", {**NAT, "sku": None}),
        ("nat-idle", "NatGateway", {**NAT, "idleTimeoutInMinutes": 3}),
        ("nat-zones", "NatGateway", {**NAT, "zones": ["1", "2"]}),
        (None, "NatGateway", {**NAT, **V2}),
        ("nat-v2-zones", "NatGateway", {**NAT, **V2, "zones": ["1"]}),
        ("imm-natgateway-sku", "NatGateway", {**NAT, "natGatewayName": "nat", **V2}),
        ("imm-natgateway-zones", "NatGateway", {**NAT, "natGatewayName": "nat", "zones": ["1"]}),
        ("pip-standard-static", "PublicIPAddress", {**V2_ADDRESS, "publicIPAllocationMethod": "Dynamic"}),
        (None, "PublicIPAddress", {**V2_ADDRESS, "zones": ["1", "2", "3"]}),
        ("imm-publicipaddress-sku", "PublicIPAddress", {**ADDRESS, **V2}),
        ("pip-basic", "PublicIPAddress", {**ADDRESS, "publicIpAddressName": "p", "sku": {"name": "Basic"}}),
        ("pip-standard-static", "PublicIPAddress", {**ADDRESS, "publicIPAllocationMethod": "Dynamic"}),
        (None, "PublicIPAddress", {**ADDRESS, "publicIPAddressVersion": "IPv4", "idleTimeoutInMinutes": 30}),
        (None, "PublicIPAddress", {**ADDRESS, "publicIpAddressName": "pip3", "zones": ["1"]}),
        ("imm-publicipaddress-zones", "PublicIPAddress", {**ADDRESS, "zones": ["1"]}),
        ("imm-publicipaddress-sku", "PublicIPAddress", {**ADDRESS, "sku": {"name": "Basic"}}),
        ("imm-publicipaddress-version", "PublicIPAddress", {**ADDRESS, "publicIPAddressVersion": "IPv6"}),
        ("imm-publicipaddress-allocation", "PublicIPAddress", {**ADDRESS, "publicIPAllocationMethod": "Dynamic"}),
        ("pip-idle", "PublicIPAddress", {**ADDRESS, "idleTimeoutInMinutes": 31}),
        ("pip-dns", "PublicIPAddress", {**ADDRESS, "dnsSettings": {"domainNameLabel": "Bad"}}),
        (None, "NetworkSecurityGroup", {**NSG, **rules(OPEN, {**OPEN, "name": "two", "priority": 101})}),
        ("nsg-priority", "NetworkSecurityGroup", {**NSG, **rules({**OPEN, "priority": 99})}),
        ("nsg-priority-unique", "NetworkSecurityGroup", {**NSG, **rules(OPEN, {**OPEN, "name": "two"})}),
        ("nsg-prefix-forms", "NetworkSecurityGroup", {**NSG, **rules({**OPEN, "sourcePortRanges": ["1-9"]})}),
        ("nsg-port-range", "NetworkSecurityGroup", {**NSG, **rules({**OPEN, "destinationPortRange": "443-80"})}),
        (None, "SecurityRule", RULE),
        ("nsg-priority", "SecurityRule", {**RULE, "priority": 5000}),
        ("nsg-prefix-forms", "SecurityRule", {**RULE, "sourceAddressPrefixes": ["10.0.0.0/8"]}),
        ("nsg-port-range", "SecurityRule", {**RULE, "destinationPortRange": "80,443"}),
        ("nsg-prefix", "SecurityRule", {**RULE, "sourceAddressPrefix": "10.0.0.0/33"}),
        ("nsg-prefix", "SecurityRule", {**RULE, "sourceAddressPrefix": "10.0.0"}),
        ("nsg-prefix", "SecurityRule", {**RULE, "sourceAddressPrefix": "20.20.20.20/16"}),
        ("nsg-prefix", "SecurityRule", {**RULE, "sourceAddressPrefix": "AzureBastionSubnet"}),
        ("nsg-prefix", "SecurityRule", {**RULE, "sourceAddressPrefix": "Internet.WestUS2"}),
        ("nsg-plural-tag", "SecurityRule", {**RULE, **many("Internet", "203.0.113.0/24")}),
        ("nsg-plural-tag", "SecurityRule", {**RULE, **many("*")}),
        (None, "SecurityRule", {**RULE, **many("203.0.113.0/24", "198.51.100.7")}),
        (None, "SecurityRule", {**RULE, "sourceAddressPrefix": "Storage.WestUS2"}),
        ("zones-region", "NatGateway", {**NAT, "zones": ["4"]}),
        ("arm-child-parent", "SecurityRule", {**RULE, "networkSecurityGroupName": "none"}),
        ("arm-tags", "NetworkSecurityGroup", {**NSG, "tags": {"a/b": "c"}}),
    ],
)
def test_network_resource(azure: Azure, rule: str | None, kind: str, inputs: dict[str, Any]) -> None:
    found = azure.rules(kind, inputs)
    assert (rule in found) if rule else not found


def test_priorities_are_unique_among_all_rules_of_a_group(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.put("SecurityRule", **RULE)
    assert azure.rules("SecurityRule", RULE) == set()
    assert azure.rules("SecurityRule", {**RULE, "securityRuleName": "two"}) == {"nsg-priority-unique"}
    assert azure.rules("SecurityRule", {**RULE, "securityRuleName": "two", "direction": "Outbound"}) == set()


def test_a_group_is_updated_without_losing_rules_that_are_resources(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    rule = azure.put("SecurityRule", **RULE)
    azure.put("NetworkSecurityGroup", **{**NSG, "networkSecurityGroupName": "nsg", "tags": {"a": "b"}})
    assert azure.cloud.get(rule.id) is not None


def test_public_address_serves_one_gateway(azure: Azure) -> None:
    taken = [{"id": azure.id(f"{NETWORK}/publicIPAddresses/pip")}]
    free = [{"id": azure.id(f"{NETWORK}/publicIPAddresses/pip2")}]
    assert azure.rules("NatGateway", {**NAT, "publicIpAddresses": taken}) == {"nat-pip-used"}
    assert azure.rules("NatGateway", {**NAT, "publicIpAddresses": free}) == set()


@pytest.mark.parametrize(("gateway", "address"), [("Standard", "StandardV2"), ("StandardV2", "Standard")])
def test_a_gateway_takes_addresses_of_its_own_sku_only(tmp_path: Path, gateway: str, address: str) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    found = azure.put("PublicIPAddress", **{**ADDRESS, **KNOWS_V2, "sku": {"name": address}})
    inputs = {**NAT, **KNOWS_V2, "sku": {"name": gateway}, "publicIpAddresses": [{"id": found.id}]}
    assert azure.rules("NatGateway", inputs) == {"nat-pip-sku"}


def test_a_region_without_standard_v2_refuses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    lacking = {"westus2": replace(places.regions()["westus2"], standard_v2="no")}
    monkeypatch.setattr(places, "regions", lambda: lacking)
    assert azure.rules("NatGateway", {**NAT, **V2}) == {"nat-v2-region"}
    assert azure.rules("PublicIPAddress", V2_ADDRESS) == {"nat-v2-region"}


def test_gateway_of_another_region_is_refused(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    far = azure.put("NatGateway", natGatewayName="far", location="swedencentral", sku=STANDARD)
    inputs = {**SUBNET, "addressPrefix": "10.100.7.0/24", "natGateway": {"id": far.id}}
    assert azure.rules("Subnet", inputs) == {"nat-region"}


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("subnet-delete-used", "virtualNetworks/vnet/subnets/system"),
        ("vnet-delete-used", "virtualNetworks/vnet"),
        ("nat-delete-used", "natGateways/nat"),
        ("nsg-delete-used", "networkSecurityGroups/nsg"),
        ("pip-delete-used", "publicIPAddresses/pip"),
    ],
)
def test_what_is_in_use_cannot_be_deleted(azure: Azure, rule: str, path: str) -> None:
    with pytest.raises(ArmError) as refused:
        azure.cloud.delete(azure.id(f"{NETWORK}/{path}"))
    assert refused.value.refusal.rule == rule
    assert azure.cloud.exists(azure.id(f"{NETWORK}/{path}"))


def test_teardown_in_order_of_use_leaves_nothing(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.pool()
    for path in (
        "Microsoft.ContainerService/managedClusters/aks/agentPools/h100gpu",
        "Microsoft.ContainerService/managedClusters/aks",
        "Microsoft.ManagedIdentity/userAssignedIdentities/plane",
        "Microsoft.ManagedIdentity/userAssignedIdentities/kubelet",
        f"{NETWORK}/virtualNetworks/vnet/subnets/system",
        f"{NETWORK}/virtualNetworks/vnet/subnets/gpu",
        f"{NETWORK}/natGateways/nat",
        f"{NETWORK}/publicIPAddresses/pip",
        f"{NETWORK}/networkSecurityGroups/nsg",
        f"{NETWORK}/virtualNetworks/vnet",
    ):
        azure.cloud.delete(azure.id(path))
    azure.cloud.delete(f"/subscriptions/{azure.cloud.directory.subscription}/resourceGroups/{GROUP}")
    assert azure.cloud.resources(inline=True) == {}
    assert azure.host.clusters == {}


def test_deleting_a_group_takes_everything_in_it_along(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.pool()
    azure.cloud.delete(f"/subscriptions/{azure.cloud.directory.subscription}/resourceGroups/{GROUP}")
    assert azure.cloud.resources(inline=True) == {}
    assert azure.host.clusters == {}


def test_deleting_a_missing_resource_succeeds(azure: Azure) -> None:
    azure.cloud.delete(azure.id(f"{NETWORK}/virtualNetworks/never"))


def test_inline_subnets_are_the_networks_and_an_update_without_the_list_keeps_them(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.group()
    both = [{"name": "a", "addressPrefix": "10.9.0.0/24"}, {"name": "b", "addressPrefix": "10.9.1.0/24"}]
    inputs: dict[str, Any] = {**VNET, **space("10.9.0.0/16")}

    def names(**more: Any) -> list[str]:
        made = azure.put("VirtualNetwork", **{**inputs, **more})
        return [subnet["name"] for subnet in made.outputs["subnets"]]

    assert names(subnets=both) == ["a", "b"]
    assert names(tags={"env": "dev"}) == ["a", "b"]
    assert names(subnets=both[:1]) == ["a"]


def test_network_refusal_has_the_error_envelope(azure: Azure) -> None:
    with pytest.raises(ArmError) as refused:
        azure.subnet("new", "10.100.1.128/25")
    refusal = refused.value.refusal
    assert refusal.body() == {
        "error": {
            "code": "NetcfgSubnetRangesOverlap",
            "message": refusal.message,
            "target": "properties.addressPrefix",
            "details": [],
        }
    }
    assert str(refused.value).startswith('Status=400 Code="NetcfgSubnetRangesOverlap" Message="Subnet')
