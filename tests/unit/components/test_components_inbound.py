"""What the security group of the subnets lets in beside the virtual network itself."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings.facts.inbound import INTERNET
from tests.unit.components.test_components_private import PEERED, RESOLVER, VPN, network
from tests.unit.conftest import Simulate


def declared(simulate: Simulate, stack: str, given: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    found = simulate(stack, given).of_type("SecurityRule")
    return {str(each.inputs["securityRuleName"]): dict(each.inputs) for each in found}


def test_the_internet_reaches_a_public_gateway_and_nothing_else(simulate: Simulate) -> None:
    recording = simulate("dev-southeastasia")
    (rule,) = recording.of_type("SecurityRule")
    wanted = {
        "access": "Allow",
        "direction": "Inbound",
        "protocol": "Tcp",
        "sourceAddressPrefix": INTERNET,
        "sourcePortRange": "*",
        # With a floating address, the packet still has the load balancer's own address and port.
        "destinationAddressPrefix": "*",
        "destinationPortRanges": ["443"],
    }
    assert {key: rule.inputs[key] for key in wanted} == wanted
    (group,) = recording.of_type("NetworkSecurityGroup")
    assert rule.inputs["networkSecurityGroupName"] == group.inputs["networkSecurityGroupName"]


@pytest.mark.parametrize("stack", ["dev-westus2", "staging-westus2", "prod-westus2", "prod-swedencentral"])
def test_without_a_public_gateway_the_internet_reaches_nothing(simulate: Simulate, stack: str) -> None:
    assert simulate(stack).of_type("SecurityRule") == []


def test_clients_of_the_vpn_reach_gateway_endpoints_and_resolver(simulate: Simulate) -> None:
    rules = declared(simulate, "prod-westeurope")
    assert {name: (rule["sourceAddressPrefix"], rule["destinationPortRanges"]) for name, rule in rules.items()} == {
        "allow-private-clients": ("192.168.200.0/24", ["443"]),
        "allow-private-dns": ("192.168.200.0/24", ["53"]),
    }


def test_what_lies_behind_a_hub_reaches_them_too_in_ranges_that_do_not_overlap(simulate: Simulate) -> None:
    hub = {**PEERED, "addressSpaces": ["10.0.0.0/16", "10.0.8.0/24", "172.20.0.0/16"], "useGateway": False}
    rules = declared(simulate, "dev-westus2", network("private", hub=hub, vpn=VPN, resolver=RESOLVER))
    for rule in rules.values():
        assert rule["sourceAddressPrefixes"] == ["10.0.0.0/16", "172.20.0.0/16", "192.168.200.0/24"]
        assert "sourceAddressPrefix" not in rule
    assert set(rules) == {"allow-private-clients", "allow-private-dns"}


def test_a_gateway_without_encryption_is_reached_at_its_port_from_there(simulate: Simulate) -> None:
    plain = {"osmo": {"mode": "platform", "access": {"login": "dev"}}, "dataServices": {"source": "azure"}}
    rules = declared(simulate, "dev-westus2", {**plain, **network("private", vpn=VPN, resolver=RESOLVER)})
    rule = rules["allow-private-clients"]
    assert rule["destinationPortRanges"] == ["80", "443"]


def test_a_rule_can_be_removed_in_production(simulate: Simulate) -> None:
    assert {each.options.protect for each in simulate("prod-westeurope").of_type("SecurityRule")} == {False}


def test_rules_are_written_one_after_the_other_and_before_the_subnets(simulate: Simulate) -> None:
    recording = simulate("prod-westeurope")
    first, second = recording.of_type("SecurityRule")
    assert first.urn in second.options.depends_on
    assert second.urn in recording.resource("Subnet", "snet-system").options.depends_on
