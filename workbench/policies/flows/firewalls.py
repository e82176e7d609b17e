"""Judgement of packets by Azure Firewalls whose rules are known: packets that leave a subnet, and packets that DNAT
rules lead into a subnet.

A firewall denies everything that no rule allows. Application rules apply only to HTTP, HTTPS and SQL, and match the
name of the server. A packet is therefore judged by them only if its server's name is known (Azure docs, firewall
rule-processing). Threat intelligence, which can deny further packets, is not considered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.firewall_rules import (
    APPLICATION,
    FIREWALL,
    NAT,
    Ends,
    FirewallRule,
    RuleList,
    as_network,
    rules_of,
)
from workbench.policies.flows.identity import of_type
from workbench.policies.flows.parties import Source
from workbench.policies.flows.security_groups import EVERYTHING, in_range, overlaps
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.model import Resource, known, known_list, known_map

WEB = ("HTTP", "HTTPS")


@dataclass(frozen=True)
class Packet:
    """A packet to be judged: it leaves a subnet through a firewall.

    Args:
        host: Name of the server that the packet is sent to, or `*.` and the end of the name; empty if it is not known.
        wholly: True if packets between all addresses of `source` and `target` must pass, as for a flow that must be
            open. False if it is enough that packets between two of the addresses pass, as for a flow that must be
            closed.
    """

    source: IPv4Network
    target: Source
    port: int
    protocol: str
    host: str
    wholly: bool


@dataclass(frozen=True)
class Firewall:
    resource: Resource
    address: str
    """Private address of the firewall; empty if it is not known yet."""
    listed: RuleList

    @property
    def name(self) -> str:
        return str(known(self.resource.inputs.get("azureFirewallName"), self.resource.name))

    def lets_out(self, packet: Packet) -> Verdict:
        """Verdict on an outgoing packet: does the firewall let it pass?"""
        if self.listed.unread:
            by = f"rules of the firewall policy {self.listed.unread[0]}, which is not of the stack"
            return Verdict(None, by, self.resource)
        perhaps: list[FirewallRule] = []
        for rule in self.listed.rules:
            fits = None if rule.kind == NAT else matches(rule, packet)
            if rule.kind == NAT or fits is False:
                continue
            if fits is None:
                perhaps.append(rule)
                continue
            return self._decided(rule.allows, f"{rule.kind} rule {rule.name}", rule.resource, perhaps)
        return self._decided(False, f"firewall {self.name}, which has no rule for it", self.resource, perhaps)

    def _decided(self, allows: bool, by: str, resource: Resource, perhaps: Sequence[FirewallRule]) -> Verdict:
        """Verdict on a packet, by the rule that decides: open if `allows` is True, closed if `allows` is False. The
        verdict is unknown if a rule of `perhaps` has the opposite action: these earlier rules may match the packet.
        """
        for rule in perhaps:
            if rule.allows is not allows:
                on = ", ".join((*rule.sources.unknown, *rule.targets.unknown)) or "the name that is asked for"
                return Verdict(None, f"{rule.kind} rule {rule.name}, which depends on {on}", rule.resource)
        return Verdict(allows, by, resource)

    def leads_to(self, subnet: IPv4Network, port: int, protocol: str) -> Iterator[Verdict]:
        """Verdicts of the DNAT rules that lead clients on the internet to an address in the subnet."""
        for rule in self.listed.rules:
            address = as_network(rule.translated[0])
            fits = rule.kind == NAT and rule.translated[1] == str(port) and {protocol, "ANY"} & set(rule.protocols)
            if fits and address is not None and address.subnet_of(subnet):
                yield Verdict(True, f"DNAT rule {rule.name}", rule.resource)


def matches(rule: FirewallRule, packet: Packet) -> bool | None:
    """True if a rule applies to the packet; False if it does not; None if the known values do not show it.

    A rule may cover only a part of the packet's range of addresses. The result for such a rule is the careful one: with
    `packet.wholly` (the whole range must get through), a rule that denies applies and a rule that allows does not;
    without it, the other way round.
    """
    strict = rule.allows is packet.wholly
    asked = _asks(rule, packet.port) if rule.kind == APPLICATION else _sends(rule, packet)
    named = _names(rule.sources, packet.source, strict=strict)
    if not asked or named is False:
        return False
    if rule.hosts:
        found: bool | None = any_known(_is_host(each, packet.host) for each in rule.hosts)
    else:
        found = _names(rule.targets, packet.target, strict=strict)
    return False if found is False else None if named is None else found


def _sends(rule: FirewallRule, packet: Packet) -> bool:
    protocols = set(rule.protocols) & {packet.protocol, "ANY"}
    return bool(protocols) and any(in_range(each, packet.port) for each in rule.ports)


def _asks(rule: FirewallRule, port: int) -> bool:
    pairs = zip(rule.protocols, rule.ports, strict=False)
    return any(protocol in (*WEB, "MSSQL") and number == str(port) for protocol, number in pairs)


def _names(ends: Ends, end: Source, *, strict: bool) -> bool | None:
    found = any(each in EVERYTHING or each == end or overlaps(each, end, strict=strict) for each in ends.blocks)
    return True if found else None if ends.unknown else False


def _is_host(pattern: str, host: str) -> bool | None:
    """True if `pattern` matches `host`; False if it does not. None if `host` is empty, if `pattern` is a tag or a URL,
    or if `host` stands for several hosts of which `pattern` matches some.
    """
    if pattern == "*":
        return True
    if not host or "." not in pattern or "/" in pattern:
        return None
    suffix = pattern.removeprefix("*")
    if pattern.startswith("*"):
        return host.endswith(suffix) or (None if host.startswith("*") and suffix.endswith(host[1:]) else False)
    return pattern == host or (None if host.startswith("*") and pattern.endswith(host[1:]) else False)


def any_known(found: Iterator[bool | None]) -> bool | None:
    """True if any value is True; otherwise None if any value is None, and False if all values are False."""
    values = list(found)
    return True if True in values else None if None in values else False


def firewalls(resources: Sequence[Resource]) -> list[Firewall]:
    """Firewalls among the resources, each with its rules."""
    return [Firewall(each, _address(each.inputs), rules_of(each, resources)) for each in of_type(resources, FIREWALL)]


def _address(inputs: Any) -> str:
    hub = known(known_map(inputs.get("hubIPAddresses")).get("privateIPAddress"))
    addresses = (known(known_map(each).get("privateIPAddress")) for each in known_list(inputs.get("ipConfigurations")))
    return str(hub or next((each for each in addresses if each), ""))
