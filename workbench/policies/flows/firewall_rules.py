"""Rules of an Azure Firewall in the order in which the firewall reads them, from its policies or its own collections.

DNAT rules come first, then network rules, then application rules. Among rules of one kind, the rules of a parent policy
come first; the other rules follow by the priorities of their rule collection group and rule collection (Azure docs,
firewall rule-processing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, summarize_address_range
from typing import Any

from workbench.policies.flows.identity import id_of, last_part, named, of_type
from workbench.policies.model import Resource, known, known_list, known_map

FIREWALL, POLICY = "azure-native:network:AzureFirewall", "azure-native:network:FirewallPolicy"
RULE_GROUP = "azure-native:network:FirewallPolicyRuleCollectionGroup"
IP_GROUP = "azure-native:network:IpGroup"
NETWORK, APPLICATION, NAT = "network", "application", "NAT"
KINDS: Mapping[str, str] = {"NetworkRule": NETWORK, "ApplicationRule": APPLICATION, "NatRule": NAT}
"""Kind of a policy's rule by its `ruleType`."""
OWN: Mapping[str, str] = {
    "natRuleCollections": NAT,
    "networkRuleCollections": NETWORK,
    "applicationRuleCollections": APPLICATION,
}
"""Kind of rules, by the property that contains these rules in a firewall without a policy."""


@dataclass(frozen=True)
class Ends:
    """Sources or targets of a firewall rule: those that are known in `blocks`, and in `unknown` names of those that the
    stack does not show, such as an IP group of another stack.
    """

    blocks: tuple[str, ...] = ()
    """Known sources or targets: CIDRs, service tags, or `*` for all addresses."""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class FirewallRule:
    kind: str
    name: str
    allows: bool
    sources: Ends
    targets: Ends
    protocols: tuple[str, ...]
    """Protocols in capitals: `TCP`, `UDP` and others; for an application rule `HTTP`, `HTTPS` and `MSSQL`."""
    ports: tuple[str, ...]
    hosts: tuple[str, ...]
    """Names of servers, and patterns such as `*.contoso.com`. For an application rule also tags and categories, which
    stand for many names.
    """
    translated: tuple[str, str]
    """Address and port that a DNAT rule leads to; empty for other rules."""
    resource: Resource


@dataclass(frozen=True)
class RuleList:
    """Rules of a firewall, in the order in which the firewall reads them. `unread`: names of policies outside of the
    stack; the firewall reads their rules, which are not known, before `rules`.
    """

    rules: tuple[FirewallRule, ...]
    unread: tuple[str, ...]


def rules_of(firewall: Resource, resources: Sequence[Resource]) -> RuleList:
    """The firewall's rules, and the policies that the stack does not have."""
    found, unread = list(_own(firewall, resources)), list[str]()
    reference, source = firewall.inputs.get("firewallPolicy"), firewall
    inherited: list[list[FirewallRule]] = []
    seen: set[str] = set()
    while known_map(reference):
        policy = named(reference, source, of_type(resources, POLICY), "firewallPolicyName")
        if policy is None or policy.name in seen:
            unread.append(last_part(reference))
            break
        seen.add(policy.name)
        inherited.insert(0, list(_of_policy(policy, resources)))
        reference, source = policy.inputs.get("basePolicy"), policy
    found = [each for rules in (*inherited, found) for each in rules]
    return RuleList(tuple(sorted(found, key=lambda each: (NAT, NETWORK, APPLICATION).index(each.kind))), tuple(unread))


def _own(firewall: Resource, resources: Sequence[Resource]) -> Iterator[FirewallRule]:
    for key, kind in OWN.items():
        for collection in _by_priority(firewall.inputs.get(key)):
            yield from _of_collection(collection, firewall, resources, kind)


def _of_policy(policy: Resource, resources: Sequence[Resource]) -> Iterator[FirewallRule]:
    groups = [each for each in of_type(resources, RULE_GROUP) if _is_of(each, policy)]
    for group in sorted(groups, key=lambda each: int(known(each.inputs.get("priority"), 65000))):
        for collection in _by_priority(group.inputs.get("ruleCollections")):
            yield from _of_collection(collection, group, resources)


def _is_of(group: Resource, policy: Resource) -> bool:
    name, own = known(group.inputs.get("firewallPolicyName")), known(policy.inputs.get("firewallPolicyName"))
    return name == own if name and own else bool(policy.urn) and policy.urn in group.options.depends_on


def _by_priority(collections: Any) -> list[dict[str, Any]]:
    found = [known_map(each) for each in known_list(collections)]
    return sorted(found, key=lambda each: int(known(each.get("priority"), 65000)))


def _of_collection(
    collection: Mapping[str, Any], resource: Resource, resources: Sequence[Resource], kind: str = ""
) -> Iterator[FirewallRule]:
    action = str(known(known_map(collection.get("action")).get("type"), "Allow"))
    for each in map(known_map, known_list(collection.get("rules"))):
        own = kind or KINDS.get(str(known(each.get("ruleType"))), "")
        if not own:
            continue
        lists = [map(known_map, known_list(each.get("protocols")))] if own == APPLICATION else []
        pairs = [
            (str(known(one.get("protocolType"), "")), str(known(one.get("port"), ""))) for row in lists for one in row
        ]
        yield FirewallRule(
            own,
            f"{known(each.get('name'), '?')} of {known(collection.get('name'), '?')}",
            own == NAT or action == "Allow",
            _ends(each, "sourceAddresses", "sourceIpGroups", resource, resources),
            _ends(each, "destinationAddresses", "destinationIpGroups", resource, resources),
            tuple(name.upper() for name, _ in pairs) or _texts(each, "ipProtocols", "protocols", upper=True),
            tuple(port for _, port in pairs) or _texts(each, "destinationPorts"),
            (*_texts(each, "destinationFqdns"), *_texts(each, "targetFqdns"), *_tags(each)),
            (str(known(each.get("translatedAddress"), "")), str(known(each.get("translatedPort"), ""))),
            resource,
        )


def _texts(rule: Mapping[str, Any], *keys: str, upper: bool = False) -> tuple[str, ...]:
    found = [str(each) for key in keys for each in known_list(rule.get(key)) if isinstance(each, str)]
    return tuple(each.upper() if upper else each for each in found)


def _tags(rule: Mapping[str, Any]) -> tuple[str, ...]:
    return (*_texts(rule, "fqdnTags"), *_texts(rule, "webCategories"), *_texts(rule, "targetUrls"))


def _ends(rule: Mapping[str, Any], key: str, groups: str, resource: Resource, resources: Sequence[Resource]) -> Ends:
    blocks = [block for each in _texts(rule, key) for block in _blocks(each)]
    unknown: list[str] = []
    for reference in known_list(rule.get(groups)):
        group = named(reference, resource, of_type(resources, IP_GROUP), "ipGroupsName")
        if group is None:
            unknown.append(f"IP group {last_part(id_of(reference))}")
        else:
            blocks += [block for each in _texts(group.inputs, "ipAddresses") for block in _blocks(each)]
    return Ends(tuple(blocks), tuple(unknown))


def _blocks(text: str) -> list[str]:
    """CIDRs that together cover a range such as `10.0.0.4-10.0.0.9`; for any other text, only the text itself."""
    first, dash, last = text.partition("-")
    try:
        return (
            [str(each) for each in summarize_address_range(IPv4Address(first), IPv4Address(last))] if dash else [text]
        )
    except ValueError:
        return [text]


def as_network(text: str) -> IPv4Network | None:
    """The network that an address or a CIDR stands for; None for any other text."""
    try:
        return IPv4Network(text)
    except ValueError:
        return None
