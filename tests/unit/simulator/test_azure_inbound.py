"""What the simulated Azure does with a packet from the internet to a Service of the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure.inbound import INTERNAL, dropped
from tests.support.azure_fakes import GROUP, Azure

RULE: dict[str, Any] = {
    "resourceGroupName": GROUP,
    "networkSecurityGroupName": "nsg",
    "securityRuleName": "https",
    "priority": 1000,
    "direction": "Inbound",
    "access": "Allow",
    "protocol": "Tcp",
    "sourceAddressPrefix": "Internet",
    "sourcePortRange": "*",
    "destinationAddressPrefix": "*",
    "destinationPortRange": "443",
}


def service(**annotations: str) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80}, {"name": "https", "port": 443}]
    return {"metadata": {"annotations": annotations}, "spec": {"type": "LoadBalancer", "ports": ports}}


def reason(azure: Azure, given: dict[str, Any] | None) -> str:
    return dropped(azure.cloud.azure().resources.values(), given)


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def test_a_group_without_a_rule_drops_clients_of_a_public_service(azure: Azure) -> None:
    found = reason(azure, service())
    assert "times out" in found
    assert "DenyAllInBound of the network security group nsg" in found
    assert reason(azure, service(**{INTERNAL: "true"})) == ""
    assert reason(azure, {"spec": {"type": "ClusterIP"}}) == reason(azure, None) == ""


@pytest.mark.parametrize(
    ("changes", "passes"),
    [
        ({}, True),
        ({"sourceAddressPrefix": "*", "destinationPortRange": "400-500"}, True),
        ({"protocol": "*"}, True),
        ({"sourceAddressPrefix": "20.0.0.0/8"}, False),
        ({"destinationAddressPrefix": "VirtualNetwork"}, False),
        ({"destinationPortRange": "80"}, False),
        ({"direction": "Outbound"}, False),
        ({"access": "Deny"}, False),
    ],
)
def test_a_rule_has_to_name_every_client_the_balancers_address_and_its_port(
    azure: Azure, changes: dict[str, str], passes: bool
) -> None:
    azure.put("SecurityRule", **{**RULE, **changes})
    assert (reason(azure, service()) == "") is passes


def test_the_rule_of_the_lowest_number_decides(azure: Azure) -> None:
    azure.put("SecurityRule", **RULE)
    deny = {"securityRuleName": "landing-zone", "priority": 100, "access": "Deny", "sourceAddressPrefix": "*"}
    azure.put("SecurityRule", **{**RULE, **deny})
    assert "the rule landing-zone" in reason(azure, service())
