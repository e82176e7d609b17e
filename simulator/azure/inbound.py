"""Check that the network security groups of the nodes' subnets let a packet from the internet pass.

No packet is sent; the rules are evaluated as Azure does (Azure docs, network-security-groups-overview and
service-tags-overview). A load balancer keeps a packet's source (the client) and its destination (the public address)
(kubernetes-sigs/cloud-provider-azure#1728). AKS's own group on the machines' network interfaces admits the packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items, table
from simulator.azure.state import Resource

Json = dict[str, Any]
INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal"
ANYWHERE = {"*", "0.0.0.0/0", "Internet"}


def dropped(resources: Iterable[Resource], service: Mapping[str, Any] | None) -> str:
    """Reason why a client on the internet gets no answer from a Service; empty if the client gets an answer, or if the
    Service has no public address.
    """
    annotations: Json = get(service, "metadata.annotations") or {}
    if get(service, "spec.type") != "LoadBalancer" or annotations.get(INTERNAL) == "true":
        return ""
    found = list(resources)
    port = max((int(each["port"]) for each in items(service, "spec.ports")), default=443)
    for subnet in _subnets_of_nodes(found):
        group = str(get(subnet.body, "properties.networkSecurityGroup.id") or "")
        if group and (rule := _deciding(found, group, port)) is not None:
            return (
                f"the connection times out: {rule} of the network security group {ids.name(group)}, which is on the"
                f" subnet {ids.name(subnet.id)}, drops packets of the internet to port {port}"
            )
    return ""


def _subnets_of_nodes(resources: list[Resource]) -> Iterator[Resource]:
    pools = [each for each in resources if each.kind == "AgentPool"]
    used = {ids.key(str(get(each.body, "properties.vnetSubnetID"))) for each in pools}
    return (each for each in resources if each.kind == "Subnet" and ids.key(each.id) in used)


def _deciding(resources: list[Resource], group: str, port: int) -> str | None:
    """Name of the security rule that drops the packet; None if the packet passes."""
    rules = [rule for rule in _rules(resources, group) if rule.get("direction") == "Inbound" and _matches(rule, port)]
    for rule in sorted(rules, key=lambda each: int(each.get("priority") or 4096)):
        return None if rule.get("access") == "Allow" else f"the rule {rule['name']}"
    return "Azure's own rule DenyAllInBound"


def _rules(resources: list[Resource], group: str) -> Iterator[Json]:
    for each in resources:
        if each.kind == "NetworkSecurityGroup" and ids.same(each.id, group):
            for rule in items(each.body, "properties.securityRules"):
                yield {"name": rule.get("name"), **table(rule, "properties")}
        if each.kind == "SecurityRule" and ids.same(ids.parent(each.id), group):
            yield {"name": ids.name(each.id), **table(each.body, "properties")}


def _matches(rule: Json, port: int) -> bool:
    """True if a rule applies to all sources, all destinations, and this TCP port.

    A rule for certain addresses counts as not applying: clients on the internet can have any address, and the load
    balancer's own address is not in the virtual network.
    """
    ends = all(
        ANYWHERE & {rule.get(f"{side}AddressPrefix"), *items(rule, f"{side}AddressPrefixes")}
        for side in ("source", "destination")
    )
    ranges = [rule.get("destinationPortRange"), *items(rule, "destinationPortRanges")]
    return ends and rule.get("protocol") in ("*", "Tcp") and any(_holds(str(each), port) for each in ranges if each)


def _holds(ports: str, port: int) -> bool:
    first, _, last = ports.partition("-")
    return ports == "*" or int(first) <= port <= int(last or first)
