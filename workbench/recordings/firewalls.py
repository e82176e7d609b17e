"""Reading of the Azure Firewalls that a stack's route tables lead to, which are often in a hub of others.

The firewalls are searched in the resource groups of peered networks, then in the subscriptions of these, then in the
stack's own. Reading rights there are enough; what may not be read is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, summarize_address_range
from typing import Any

from physical_ai.nested import is_mapping, mappings
from physical_ai.subscription.answers import Unanswered
from workbench.recordings.arm_reader import ArmReader, entry_of, unread
from workbench.recordings.form import Entry

VERSION = "2024-05-01"
"""API version of Microsoft.Network for types that the program does not declare."""
_TYPE = "Microsoft.Network"
FIREWALLS, POLICIES = f"{_TYPE}/azureFirewalls", f"{_TYPE}/firewallPolicies"
GROUPS, IP_GROUPS = f"{POLICIES}/ruleCollectionGroups", f"{_TYPE}/ipGroups"
MOST_POLICIES = 10
"""Largest number of policies of one firewall, with the parents of its policy."""


def firewall_entries(read: ArmReader, bodies: Sequence[Mapping[str, Any]], group: str) -> Iterator[Entry]:
    """Entries with the firewalls to which routes among `bodies` lead, their policies, rules and IP groups.

    Args:
        group: ARM id of the stack's resource group.
    """
    wanted = addresses(bodies)
    reasons: list[str] = []
    for scope in scopes(bodies, group) if wanted else ():
        try:
            found = [each for each in read.rows(f"{scope}/providers/{FIREWALLS}", VERSION) if _own(each) & wanted]
        except Unanswered as problem:
            reasons.append(str(problem))
            continue
        for each in found:
            wanted -= _own(each)
            yield from _firewall(read, each)
        if not wanted:
            return
    for address in sorted(wanted):
        why = "; ".join(reasons) or "no Azure Firewall in the stack's and the peered subscriptions has it"
        yield unread(f"the firewall at {address}, which a route leads to", why)


def addresses(bodies: Iterable[Mapping[str, Any]]) -> set[str]:
    """Addresses of appliances that the routes of route tables lead to."""
    tables = (each for each in bodies if _is(each, "routetables"))
    rows = (_below(row) for table in tables for row in mappings(_below(table).get("routes")))
    found = (row.get("nextHopIpAddress") for row in rows if row.get("nextHopType") == "VirtualAppliance")
    return {str(each) for each in found if each}


def scopes(bodies: Iterable[Mapping[str, Any]], group: str) -> list[str]:
    """Resource groups and subscriptions in which the firewall may be, the likeliest first."""
    groups: list[str] = []
    for each in bodies:
        peerings = mappings(_below(each).get("virtualNetworkPeerings")) if _is(each, "virtualnetworks") else ()
        for peering in (each, *peerings):
            remote = _below(peering).get("remoteVirtualNetwork")
            id_ = str(remote.get("id", "")) if is_mapping(remote) else ""
            if "/providers/" in id_:
                groups.append(id_.partition("/providers/")[0])
    groups.append(group)
    subscriptions = [each.partition("/resourceGroups/")[0] for each in groups]
    return list(dict.fromkeys([*groups, *subscriptions]))


def _firewall(read: ArmReader, body: Mapping[str, Any]) -> Iterator[Entry]:
    ip_groups = dict.fromkeys(_ip_groups(body))
    yield _entry(body, FIREWALLS)
    reference: Any = _below(body).get("firewallPolicy")
    for _ in range(MOST_POLICIES):
        id_ = str(reference.get("id", "")) if is_mapping(reference) else ""
        if not id_:
            break
        try:
            policy = read(id_, VERSION)
            yield _entry(policy, POLICIES, id_)
            for each in read.rows(f"{id_}/ruleCollectionGroups", VERSION):
                ip_groups |= dict.fromkeys(_ip_groups(each))
                yield _entry(each, GROUPS)
        except Unanswered as problem:
            yield unread(id_, problem)
            break
        reference = _below(policy).get("basePolicy")
    for id_ in ip_groups:
        try:
            yield _entry(read(id_, VERSION), IP_GROUPS, id_)
        except Unanswered as problem:
            yield unread(id_, problem)


def _entry(body: Any, type_: str, id_: str = "") -> Entry:
    found = entry_of(id_ or str(body.get("id", "")) if is_mapping(body) else id_, type_, VERSION, body)
    return {**found, "body": without_ranges(found["body"])}


def _own(firewall: Mapping[str, Any]) -> set[str]:
    """Private addresses of a firewall."""
    below = _below(firewall)
    hub = below.get("hubIPAddresses")
    found = [_below(each).get("privateIPAddress") for each in mappings(below.get("ipConfigurations"))]
    found.append(hub.get("privateIPAddress") if is_mapping(hub) else None)
    return {str(each) for each in found if each}


def _ip_groups(value: Any) -> Iterator[str]:
    """Ids of IP groups that rules name."""
    if isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType] - decoded JSON
            yield from _ip_groups(each)
    elif is_mapping(value):
        for key, each in value.items():
            if key in ("sourceIpGroups", "destinationIpGroups") and isinstance(each, list):
                yield from (str(one) for one in each if isinstance(one, str))  # pyright: ignore[reportUnknownVariableType] - as above
            else:
                yield from _ip_groups(each)


def without_ranges(value: Any) -> Any:
    """A body with networks in place of ranges such as `10.0.0.4-10.0.0.9`. Only addresses that stand alone are replaced
    in a recording.
    """
    if isinstance(value, list):
        return [one for each in value for one in _networks(each)]  # pyright: ignore[reportUnknownVariableType] - decoded JSON
    return {key: without_ranges(each) for key, each in value.items()} if is_mapping(value) else value


def _networks(value: Any) -> list[Any]:
    first, dash, last = value.partition("-") if isinstance(value, str) else ("", "", "")
    if not dash:
        return [without_ranges(value)]
    try:
        return [str(each) for each in summarize_address_range(IPv4Address(first.strip()), IPv4Address(last.strip()))]
    except (ValueError, TypeError):
        return [value]


def _is(body: Mapping[str, Any], name: str) -> bool:
    """True if the last type in the id of a body is the given type of Microsoft.Network."""
    parts = str(body.get("id", "")).lower().split("/")
    return len(parts) > 2 and parts[-2] == name


def _below(body: Any) -> Mapping[str, Any]:
    found = body.get("properties") if is_mapping(body) else None
    return found if is_mapping(found) else {}
