"""Packets that a network security group lets in and out (Azure docs, network-security-groups-overview).

Rules are read in the order of their priority, and the first rule that matches decides. If no rule matches, Azure's
default rules decide: AllowVnetInBound, AllowAzureLoadBalancerInBound for probes, DenyAllInBound; AllowVnetOutBound,
AllowInternetOutBound, DenyAllOutBound. Packets to the metadata service and to Azure's DNS resolver are matched only by
rules that name the service tags of these two services (the same page, "Azure platform considerations").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.parties import INTERNET, Source
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.model import Resource, known, known_list, known_map

GROUP, RULE = "azure-native:network:NetworkSecurityGroup", "azure-native:network:SecurityRule"
EVERYTHING = ("*", "0.0.0.0/0")
VIRTUAL_NETWORK = "VirtualNetwork"
PUBLIC, PRIVATE = "public", "private"
"""Targets of a packet without an exact address: PUBLIC for any public address of a load balancer, PRIVATE for any
address of the network.
"""
AZURE = "AzureCloud"
"""Service tag of all public addresses of Azure's data centers."""
PLATFORM: Mapping[str, tuple[str, ...]] = {
    "169.254.169.254": ("AzurePlatformIMDS",),
    "168.63.129.16": ("AzurePlatformDNS", "AzurePlatformLKM"),
}
"""Addresses of Azure's platform, each with its service tags. A rule matches the address only if it names one of the
tags.
"""
_NOT_PUBLIC = frozenset({VIRTUAL_NETWORK, "AzureLoadBalancer", *(tag for tags in PLATFORM.values() for tag in tags)})
INBOUND, OUTBOUND = "Inbound", "Outbound"


@dataclass(frozen=True)
class Rule:
    """A security rule. `sources` and `targets`: CIDRs, service tags or `*`."""

    direction: str
    name: str
    priority: int
    allows: bool
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    ports: tuple[str, ...]
    protocol: str
    resource: Resource | None = None


@dataclass(frozen=True)
class Group:
    """A network security group with its rules. `network`: address ranges that the service tag VirtualNetwork certainly
    includes.
    """

    resource: Resource
    rules: tuple[Rule, ...]
    network: tuple[IPv4Network, ...] = ()
    foreign: str = ""
    """Name of a security group of another stack, whose rules are not known; `resource` is then the subnet that uses the
    group.
    """

    @property
    def name(self) -> str:
        return str(known(self.resource.inputs.get("networkSecurityGroupName"), self.resource.name))

    def lets_in(
        self, source: Source, port: int, target: str | IPv4Network, *, wholly: bool, protocol: str = "TCP"
    ) -> Verdict:
        """Verdict on incoming packets: does the group let them in?

        Args:
            target: A network, or PUBLIC or PRIVATE if the address is not known.
            wholly: True if packets from all addresses of `source` must pass, as for a flow that must be open. False if
                it is enough that packets from one address pass, as for a flow that must be closed.
        """
        if self.foreign:
            return self._unknown()
        for rule in self._rules(INBOUND, port, protocol):
            # A rule that matches in part is taken in its worse sense: an allowed part opens a flow that
            # has to be closed, a denied part closes one that has to be open.
            strict = rule.allows is wholly
            if self._has_target(rule, target, strict=strict) and self._names(rule.sources, source, strict=strict):
                return self._by(rule)
        there = self._in_network(target, strict=wholly) if isinstance(target, IPv4Network) else target == PRIVATE
        inside = there and self._in_network(source, strict=wholly)
        return self._default(inside, "AllowVnetInBound" if inside else "DenyAllInBound")

    def lets_out(
        self, source: IPv4Network, target: Source, port: int, *, wholly: bool, protocol: str = "TCP"
    ) -> Verdict:
        """Verdict on outgoing packets: does the group let them out? `target`: a network, or the service tag of public
        addresses.
        """
        if self.foreign:
            return self._unknown()
        for rule in self._rules(OUTBOUND, port, protocol):
            strict = rule.allows is wholly
            if self._names(rule.sources, source, strict=strict) and self._names(rule.targets, target, strict=strict):
                return self._by(rule)
        if self._in_network(source, strict=wholly) and self._in_network(target, strict=wholly):
            return self._default(True, "AllowVnetOutBound")
        public = isinstance(target, str) or target.is_global
        return self._default(public, "AllowInternetOutBound" if public else "DenyAllOutBound")

    def lets_out_to_platform(self, address: str, port: int, protocol: str = "TCP") -> Verdict:
        """Verdict on outgoing packets to an address of `PLATFORM`: does the group let them out?"""
        if self.foreign:
            return self._unknown()
        for rule in self._rules(OUTBOUND, port, protocol):
            if set(rule.targets) & set(PLATFORM[address]):
                return self._by(rule)
        return self._default(True, "for the platform's addresses")

    def _rules(self, direction: str, port: int, protocol: str) -> list[Rule]:
        """Rules for the direction, port and protocol, in the order in which Azure reads them."""
        found = [each for each in self.rules if each.direction == direction and _has_port(each, port, protocol)]
        return sorted(found, key=lambda each: each.priority)

    def _by(self, rule: Rule) -> Verdict:
        return Verdict(rule.allows, f"rule {rule.name} of {self.name}", rule.resource or self.resource)

    def _unknown(self) -> Verdict:
        return Verdict(None, f"security group {self.foreign}, which is not of the stack", self.resource)

    def _default(self, opens: bool, name: str) -> Verdict:
        return Verdict(opens, f"Azure's rule {name} of {self.name}", self.resource)

    def _names(self, blocks: Sequence[str], end: Source, *, strict: bool) -> bool:
        return any(
            each in EVERYTHING
            or each == end
            or (each == VIRTUAL_NETWORK and self._in_network(end, strict=strict))
            or overlaps(each, end, strict=strict)
            for each in blocks
        )

    def _has_target(self, rule: Rule, target: str | IPv4Network, *, strict: bool) -> bool:
        """True if the rule's targets include at least one of the addresses that `target` stands for. With `strict`,
        True only if they include all of these addresses; for PRIVATE, one is always enough.

        PUBLIC stands for every public address, so a rule for a range of public addresses includes only some of them.
        """
        if isinstance(target, IPv4Network):
            return self._names(rule.targets, target, strict=strict)
        if any(each in EVERYTHING for each in rule.targets):
            return True
        if target == PRIVATE:
            return VIRTUAL_NETWORK in rule.targets or any(
                overlaps(each, space, strict=False) for each in rule.targets for space in self.network
            )
        return INTERNET in rule.targets or (
            not strict and any(overlaps(each, INTERNET, strict=False) for each in rule.targets)
        )

    def _in_network(self, end: Source, *, strict: bool) -> bool:
        return any(_shares(each, end, strict=strict) for each in self.network)


@cache
def _network(text: str) -> IPv4Network | None:
    """The network that a prefix of a rule stands for; None for a service tag, and for IPv6."""
    try:
        return IPv4Network(text)
    except ValueError:
        return None


def overlaps(block: str, end: Source, *, strict: bool) -> bool:
    """True if `block`, a prefix or service tag of a rule, overlaps `end`. With `strict`, True only if `block` contains
    all of `end`.
    """
    network = _network(block)
    if network is None:
        return _has_tag(block, end, strict=strict)
    return _shares(network, end, strict=strict)


def _shares(network: IPv4Network, end: Source, *, strict: bool) -> bool:
    if isinstance(end, str):
        # A public range is a part of the internet, and never all of it.
        return not strict and network.is_global
    # Numbers, since ipaddress makes objects to compare two networks, and this is asked thousands of times.
    first, last = int(network.network_address), int(network.broadcast_address)
    start, stop = int(end.network_address), int(end.broadcast_address)
    return first <= start and stop <= last if strict else first <= stop and start <= last


def _has_tag(tag: str, end: Source, *, strict: bool) -> bool:
    """True if a service tag overlaps `end`; with `strict`, if the tag contains all of `end`.

    The tag Internet contains all public addresses, AzureCloud all public addresses of Azure, and the tag of a service
    some public addresses of Azure. A tag for a region, such as Storage.WestUS2, contains a part of the tag Storage.
    """
    if tag in _NOT_PUBLIC:
        return False
    if isinstance(end, IPv4Network):
        return tag == INTERNET and end.is_global
    if end == INTERNET:
        return tag == INTERNET or not strict
    return tag in (INTERNET, AZURE) or (not strict and tag.startswith(f"{end}."))


def _has_port(rule: Rule, port: int, protocol: str) -> bool:
    return rule.protocol.upper() in ("*", protocol) and any(in_range(each, port) for each in rule.ports)


def in_range(text: str, port: int) -> bool:
    """True if the port is in `text`: a port, a range such as `400-500`, or `*`."""
    first, _, last = text.partition("-")
    return text == "*" or int(first) <= port <= int(last or first)


def groups(resources: Sequence[Resource], network: tuple[IPv4Network, ...]) -> list[Group]:
    """All security groups, each with its rules, which are declared inline or as separate resources."""
    declared = [each for each in resources if each.type == GROUP]
    separate = [each for each in resources if each.type == RULE]
    # A range within another one of the network adds nothing.
    widest = tuple(
        each for each in dict.fromkeys(network) if not any(each != other and each.subnet_of(other) for other in network)
    )
    return [Group(each, tuple(_of_group(each, separate, only=len(declared) == 1)), widest) for each in declared]


def _of_group(group: Resource, separate: Sequence[Resource], *, only: bool) -> Iterator[Rule]:
    for inline in known_list(group.inputs.get("securityRules")):
        yield from _rule(known_map(inline), None)
    name = known(group.inputs.get("networkSecurityGroupName"))
    for each in separate:
        # In a preview the group's name may be an output of it; then the dependency names the group.
        named = known(each.inputs.get("networkSecurityGroupName"))
        if named == name if named is not None else only or group.urn in each.options.depends_on:
            yield from _rule(each.inputs, each)


def _rule(inputs: Mapping[str, Any], resource: Resource | None) -> Iterator[Rule]:
    direction = known(inputs.get("direction"))
    if direction not in (INBOUND, OUTBOUND):
        return
    name = known(inputs.get("securityRuleName") or inputs.get("name"), resource.name if resource else "")
    yield Rule(
        direction,
        str(name),
        int(known(inputs.get("priority"), 4096)),
        known(inputs.get("access")) == "Allow",
        _one_or_many(inputs, "sourceAddressPrefix", "sourceAddressPrefixes"),
        _one_or_many(inputs, "destinationAddressPrefix", "destinationAddressPrefixes"),
        _one_or_many(inputs, "destinationPortRange", "destinationPortRanges"),
        str(known(inputs.get("protocol"), "*")),
        resource,
    )


def _one_or_many(inputs: Mapping[str, Any], one: str, many: str) -> tuple[str, ...]:
    single = known(inputs.get(one))
    return (str(single),) if single else tuple(str(each) for each in known_list(inputs.get(many)))
