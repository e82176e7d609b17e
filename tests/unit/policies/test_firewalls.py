"""Azure Firewalls on the nodes' route: the rule that decides, and what stays unknown."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any

from tests.support.cases import in_one_test
from tests.unit.components.test_components_private import PEERED, network
from tests.unit.conftest import Simulate
from workbench.policies import Resource, Stack
from workbench.policies.flows import Judgement, judge
from workbench.policies.flows.firewall_bodies import resources_of
from workbench.policies.flows.firewalls import Packet, firewalls

IDS = "/subscriptions/s/resourceGroups/rg-hub/providers/Microsoft.Network"
HUB = network("private", hub=PEERED, firewall={"address": "10.0.1.4"})
NODES, INTERNET = IPv4Network("10.40.0.0/24"), IPv4Network("140.82.112.3/32")
Json = dict[str, Any]


def firewall(policy: str = "p", address: str = "10.0.1.4") -> Json:
    configuration = {"name": "ip", "properties": {"privateIPAddress": address}}
    below = {"ipConfigurations": [configuration], "firewallPolicy": {"id": f"{IDS}/firewallPolicies/{policy}"}}
    return {"id": f"{IDS}/azureFirewalls/afw", "properties": below}


def policy(name: str = "p", parent: str = "") -> Json:
    base = {"basePolicy": {"id": f"{IDS}/firewallPolicies/{parent}"}} if parent else {}
    return {"id": f"{IDS}/firewallPolicies/{name}", "properties": base}


def rule(kind: str = "NetworkRule", **more: Any) -> Json:
    common: Json = {"name": "r", "ruleType": kind, "sourceAddresses": ["*"]}
    if kind == "ApplicationRule":
        return {**common, "protocols": [{"protocolType": "Https", "port": 443}], "targetFqdns": ["*"], **more}
    return {
        **common, "ipProtocols": ["TCP"], "destinationAddresses": ["*"], "destinationPorts": ["443"], **more,
    }  # fmt: skip


def collection(name: str, priority: int, *rules: Json, deny: bool = False) -> Json:
    return {"name": name, "priority": priority, "action": {"type": "Deny" if deny else "Allow"}, "rules": list(rules)}


def group(name: str, priority: int, *collections: Json, of: str = "p") -> Json:
    properties = {"priority": priority, "ruleCollections": list(collections)}
    return {"id": f"{IDS}/firewallPolicies/{of}/ruleCollectionGroups/{name}", "properties": properties}


def verdict(
    *bodies: Json,
    target: str = "140.82.112.3",
    port: int = 443,
    protocol: str = "TCP",
    host: str = "",
    wholly: bool = True,
) -> tuple[bool | None, str]:
    (one,) = firewalls(list(resources_of([firewall(), policy(), *bodies])))
    found = one.lets_out(Packet(NODES, IPv4Network(target), port, protocol, host, wholly))
    return found.open, found.by


def test_what_no_rule_allows_is_denied() -> None:
    assert verdict() == (False, "firewall afw, which has no rule for it")
    assert verdict(group("g", 200, collection("web", 100, rule())), port=80)[0] is False
    assert verdict(group("g", 200, collection("web", 100, rule())), protocol="UDP")[0] is False
    assert verdict(group("g", 200, collection("web", 100, rule(ipProtocols=["Any"]))), protocol="UDP")[0] is True


def test_priorities_of_groups_come_before_those_of_collections() -> None:
    late = group("late", 300, collection("first", 100, rule(), deny=True))
    early = group("early", 200, collection("b", 300, rule()), collection("a", 200, rule(destinationPorts=["22"])))
    assert verdict(late, early) == (True, "network rule r of b")
    assert verdict(late, group("early", 400, collection("b", 300, rule()))) == (False, "network rule r of first")


def test_rules_of_a_parent_policy_come_first_and_those_of_a_foreign_one_are_unknown() -> None:
    own = group("own", 100, collection("open", 100, rule()))
    parents = group("base", 65000, collection("shut", 65000, rule(), deny=True), of="parent")
    bodies = [firewall(), policy("p", "parent"), policy("parent"), own, parents]
    (one,) = firewalls(list(resources_of(bodies)))
    packet = Packet(NODES, INTERNET, 443, "TCP", "", True)
    assert (one.lets_out(packet).open, one.lets_out(packet).by) == (False, "network rule r of shut")
    (other,) = firewalls(list(resources_of([firewall(), policy("p", "elsewhere"), own])))
    assert other.lets_out(packet).open is None
    assert "firewall policy elsewhere, which is not of the stack" in other.lets_out(packet).by


def test_network_rules_come_before_application_rules_whatever_their_priority() -> None:
    names = group("names", 100, collection("names", 100, rule("ApplicationRule"), deny=True))
    assert verdict(names, group("g", 900, collection("net", 900, rule()))) == (True, "network rule r of net")
    assert verdict(names) == (False, "application rule r of names")


@in_one_test(
    ("pattern", "host", "is_open"),
    [
        ("*", "", True),
        ("nvcr.io", "nvcr.io", True),
        ("nvcr.io", "ghcr.io", False),
        ("*.docker.io", "auth.docker.io", True),
        ("*.docker.io", "docker.io", False),
        ("nvcr.io", "", None),  # an address alone says no name
        ("*.vault.azure.net", "*.vault.azure.net", True),
        ("kv.vault.azure.net", "*.vault.azure.net", None),
        ("*.blob.core.windows.net", "*.vault.azure.net", False),
    ],
)
def test_an_application_rule_is_about_names(pattern: str, host: str, is_open: bool | None) -> None:
    names = group("g", 200, collection("names", 100, rule("ApplicationRule", targetFqdns=[pattern])))
    assert verdict(names, host=host)[0] is is_open
    assert verdict(names, host=host, port=5432)[0] is False
    tags = rule("ApplicationRule", targetFqdns=[], fqdnTags=["AzureKubernetesService"])
    assert verdict(group("g", 200, collection("aks", 100, tags)), host=host)[0] is None


def test_ip_groups_are_read_and_others_are_unknown() -> None:
    mine = rule(destinationAddresses=[], destinationIpGroups=[f"{IDS}/ipGroups/git"])
    addresses = {"id": f"{IDS}/ipGroups/git", "properties": {"ipAddresses": ["140.82.112.0-140.82.112.9"]}}
    found = group("g", 200, collection("c", 100, mine))
    assert verdict(found, addresses) == (True, "network rule r of c")
    assert verdict(found, addresses, target="140.82.112.10")[0] is False
    assert verdict(found) == (None, "network rule r of c, which depends on IP group git")


def test_a_rule_for_a_part_of_the_nodes_counts_in_its_worse_sense() -> None:
    some = group("g", 200, collection("c", 100, rule(sourceAddresses=["10.40.0.0/25"])))
    assert (verdict(some)[0], verdict(some, wholly=False)[0]) == (False, True)
    deny = group("g", 200, collection("c", 100, rule(sourceAddresses=["10.40.0.0/25"]), deny=True))
    rest = group("h", 300, collection("d", 100, rule()))
    assert (verdict(deny, rest)[0], verdict(deny, rest, wholly=False)[0]) == (False, True)


def test_a_firewall_without_a_policy_has_its_own_collections() -> None:
    own = {"name": "c", "properties": {"priority": 200, "action": {"type": "Allow"}, "rules": [
        {"name": "r", "protocols": ["TCP"], "sourceAddresses": ["*"], "destinationAddresses": ["AzureCloud"],
         "destinationPorts": ["443"]}]}}  # fmt: skip
    body = {"id": f"{IDS}/azureFirewalls/afw", "properties": {"networkRuleCollections": [own]}}
    (one,) = firewalls(list(resources_of([body])))
    assert one.lets_out(Packet(NODES, "AzureCloud", 443, "TCP", "", True)).open is True
    assert one.lets_out(Packet(NODES, INTERNET, 443, "TCP", "", True)).open is False


def behind(simulate: Simulate, *bodies: Json) -> Stack:
    stack = simulate("dev-westus2", HUB).stack
    return replace(stack, resources=(*stack.resources, *resources_of([firewall(), policy(), *bodies])))


def found(stack: Stack, flow: str) -> Judgement:
    return next(each for each in judge(stack) if str(each.flow) == flow)


def test_a_known_firewall_on_the_route_decides_and_one_at_another_address_does_not(simulate: Simulate) -> None:
    closed = behind(simulate)
    judged = found(closed, "node → public-address")
    assert "route internet of physical-ai-network-routes: the firewall afw" in [each.by for each in judged.way.hops]
    assert (judged.holds, judged.way.verdict.by) == (False, "firewall afw, which has no rule for it")
    allowed = collection("egress", 200, rule(ipProtocols=["Any"], destinationPorts=["*"]))
    assert [str(each) for each in judge(behind(simulate, group("g", 200, allowed))) if not each.holds] == []
    stack = simulate("dev-westus2", HUB).stack
    other = replace(stack, resources=(*stack.resources, *resources_of([firewall(address="10.0.9.9"), policy()])))
    assert found(other, "node → public-address").way.verdict.open is None


def test_a_registry_that_the_firewall_does_not_name_is_found_before_its_images_are_pulled(simulate: Simulate) -> None:
    names = rule("ApplicationRule", targetFqdns=["ghcr.io", "*.azmk8s.io"])
    stack = behind(simulate, group("g", 200, collection("names", 200, names)))
    by_host = {each.way.target: each.way.verdict.open for each in judge(stack) if each.flow.target == "images"}
    assert by_host == {"ghcr.io": True, "nvcr.io": False, "registry.k8s.io": False}


def test_a_firewall_that_leads_clients_to_a_node_is_found(simulate: Simulate) -> None:
    ssh = rule("NatRule", destinationPorts=["50022"], translatedPort="22")
    (subnet,) = [
        each
        for each in simulate("dev-westus2", HUB).stack.resources
        if each.name == "physical-ai-network-subnet-system"
    ]
    address = str(IPv4Network(str(subnet.inputs["addressPrefix"]))[5])
    stack = behind(simulate, group("g", 100, collection("dnat", 100, {**ssh, "translatedAddress": address})))
    opened = [each for each in judge(stack) if str(each.flow) == "internet → subnets" and each.way.port == 22]
    by = {each.way.target: [hop.by for hop in each.way.hops] for each in opened}
    assert by["physical-ai-network-subnet-system"][0] == "DNAT rule r of dnat"


def test_bodies_that_are_no_firewall_are_left_out() -> None:
    bodies: list[Any] = [None, 7, {}, {"id": "x"}, {"id": f"{IDS}/virtualNetworks/v", "properties": {}}]
    assert list(resources_of(bodies)) == list[Resource]()
