"""What a network security group lets in (Azure docs, network-security-groups-overview).

Rules are read in the order of their priority, and the first that matches decides. Below all of them are Azure's own:
AllowVnetInBound, AllowAzureLoadBalancerInBound for probes, DenyAllInBound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from physical_ai.policies.flows.parties import INTERNET, Source
from physical_ai.policies.flows.verdicts import Verdict
from physical_ai.policies.model import Resource, known, known_list, known_map

GROUP, RULE = "azure-native:network:NetworkSecurityGroup", "azure-native:network:SecurityRule"
EVERYTHING = ("*", "0.0.0.0/0")
VIRTUAL_NETWORK = "VirtualNetwork"
PUBLIC, PRIVATE = "public", "private"
"""Whether a packet still has the public address of a load balancer when it reaches the group, or one of the network."""


@dataclass(frozen=True)
class Rule:
    """An inbound rule. `sources` and `targets` are CIDRs, service tags or `*`."""

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
    """A group with its rules, and the ranges that its tag VirtualNetwork has for certain."""

    resource: Resource
    rules: tuple[Rule, ...]
    network: tuple[IPv4Network, ...] = ()

    @property
    def name(self) -> str:
        return str(known(self.resource.inputs.get("networkSecurityGroupName"), self.resource.name))

    def lets_in(self, source: Source, port: int, target: str, *, wholly: bool) -> Verdict:
        """Whether a TCP packet passes.

        Args:
            target: PUBLIC or PRIVATE.
            wholly: Whether all addresses of `source` have to pass, as for a flow that has to be open. Otherwise one
                that passes is enough, as for one that has to be closed.
        """
        for rule in sorted(self.rules, key=lambda each: each.priority):
            if not _has_port(rule, port):
                continue
            # What matches in part decides against what is asked: an allowed part opens, a denied part closes.
            strict = rule.allows is wholly
            if self._has_target(rule, target, strict=strict) and self._matches(rule, source, strict=strict):
                return Verdict(rule.allows, f"rule {rule.name} of {self.name}", rule.resource or self.resource)
        inside = target == PRIVATE and self._in_network(source, strict=wholly)
        default = "AllowVnetInBound" if inside else "DenyAllInBound"
        return Verdict(inside, f"Azure's rule {default} of {self.name}", self.resource)

    def _matches(self, rule: Rule, source: Source, *, strict: bool) -> bool:
        return any(
            each in EVERYTHING
            or each == source
            or (each == VIRTUAL_NETWORK and self._in_network(source, strict=strict))
            or _overlaps(each, source, strict=strict)
            for each in rule.sources
        )

    def _has_target(self, rule: Rule, target: str, *, strict: bool) -> bool:
        """The public address of a load balancer is not known before it exists: only some of it is in a range."""
        if any(each in EVERYTHING for each in rule.targets):
            return True
        if target == PRIVATE:
            return VIRTUAL_NETWORK in rule.targets or any(
                _overlaps(each, space, strict=False) for each in rule.targets for space in self.network
            )
        return INTERNET in rule.targets or (
            not strict and any(_overlaps(each, INTERNET, strict=False) for each in rule.targets)
        )

    def _in_network(self, source: Source, *, strict: bool) -> bool:
        return any(_overlaps(str(each), source, strict=strict) for each in self.network)


def _overlaps(block: str, source: Source, *, strict: bool) -> bool:
    """`strict`: the block has all of the source, and not only some."""
    try:
        network = IPv4Network(block)
    except ValueError:
        return False
    if isinstance(source, str):
        # A public range is a part of the internet, and never all of it.
        return source == INTERNET and not strict and network.is_global
    return source.subnet_of(network) if strict else source.overlaps(network)


def _has_port(rule: Rule, port: int) -> bool:
    return rule.protocol in ("*", "Tcp") and any(_in_range(each, port) for each in rule.ports)


def _in_range(text: str, port: int) -> bool:
    first, _, last = text.partition("-")
    return text == "*" or int(first) <= port <= int(last or first)


def groups(resources: Sequence[Resource], network: tuple[IPv4Network, ...]) -> list[Group]:
    """Every group with its rules, those of its own and those that are resources."""
    own = [each for each in resources if each.type == GROUP]
    separate = [each for each in resources if each.type == RULE]
    return [Group(each, tuple(_of_group(each, separate, only=len(own) == 1)), network) for each in own]


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
    if known(inputs.get("direction")) != "Inbound":
        return
    name = known(inputs.get("securityRuleName") or inputs.get("name"), resource.name if resource else "")
    yield Rule(
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
