"""Evaluates NetworkPolicies and security groups by brute force, for comparison with the program's evaluation.

Written from the specifications alone (Kubernetes docs, services-networking/network-policies; Azure docs,
network-security-groups-overview) and without a line of the program's code: here a policy is expanded into the set of
all (sender, receiver, port, protocol) that it allows, over all Pods, and a group into a table of every address and
port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from typing import Any

Json = Mapping[str, Any]
Packet = tuple[str, str, int, str]
"""Sender, receiver, port and protocol of a packet."""


@dataclass(frozen=True)
class End:
    """Sender or receiver: a Pod, or an address outside of the cluster if `namespace` is empty."""

    name: str
    address: str
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    space: tuple[tuple[str, str], ...] = ()
    """Labels of the Pod's namespace."""
    ports: tuple[tuple[str, int], ...] = ()


def selected(selector: Json, labels: Mapping[str, str]) -> bool:
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key, object()) != value:
            return False
    for each in selector.get("matchExpressions") or []:
        has, value = each["key"] in labels, labels.get(each["key"])
        if each["operator"] == "In" and not (has and value in each["values"]):
            return False
        if each["operator"] == "NotIn" and has and value in each["values"]:
            return False
        if each["operator"] == "Exists" and not has:
            return False
        if each["operator"] == "DoesNotExist" and has:
            return False
    return True


def _peers(entries: Sequence[Json] | None, ends: Sequence[End], home: str, *, blocks_have_pods: bool) -> set[str]:
    if not entries:
        return {each.name for each in ends}
    found: set[str] = set()
    for entry in entries:
        for end in ends:
            if "ipBlock" in entry:
                if end.namespace and not blocks_have_pods:
                    continue
                holes = entry["ipBlock"].get("except") or []
                inside = IPv4Address(end.address) in IPv4Network(entry["ipBlock"]["cidr"])
                if inside and not [hole for hole in holes if IPv4Address(end.address) in IPv4Network(hole)]:
                    found.add(end.name)
            elif end.namespace:
                spaces = entry.get("namespaceSelector")
                there = end.namespace == home if spaces is None else selected(spaces, dict(end.space))
                if there and selected(entry.get("podSelector") or {}, dict(end.labels)):
                    found.add(end.name)
    return found


def _ports(entries: Sequence[Json] | None, receiver: End, numbers: Sequence[int]) -> set[tuple[int, str]]:
    if not entries:
        return set(product(numbers, ("TCP", "UDP")))
    found: set[tuple[int, str]] = set()
    for entry in entries:
        given, protocol = entry.get("port"), entry.get("protocol", "TCP")
        if given is None:
            found |= {(number, protocol) for number in numbers}
        elif isinstance(given, str):
            found |= {(number, protocol) for name, number in receiver.ports if name == given}
        else:
            last = entry.get("endPort", given)
            found |= {(number, protocol) for number in numbers if number in range(given, last + 1)}
    return found


def allowed(
    policies: Sequence[Json], ends: Sequence[End], numbers: Sequence[int], *, blocks_have_pods: bool
) -> set[Packet]:
    """Every packet between two ends that passes. With `blocks_have_pods`, an ipBlock matches the addresses of Pods
    too.
    """
    everything: set[Packet] = set(
        product((each.name for each in ends), (each.name for each in ends), numbers, ("TCP", "UDP"))
    )
    for pod in (each for each in ends if each.namespace):
        for direction, place, key in (("Ingress", "from", "ingress"), ("Egress", "to", "egress")):
            own = [
                each["spec"]
                for each in policies
                if each["metadata"]["namespace"] == pod.namespace
                and selected(each["spec"].get("podSelector") or {}, dict(pod.labels))
                and direction in types_of(each["spec"])
            ]
            if not own:
                continue
            passes: set[Packet] = set()
            for rule in (rule for spec in own for rule in spec.get(key) or []):
                others = _peers(rule.get(place), ends, pod.namespace, blocks_have_pods=blocks_have_pods)
                for other in (each for each in ends if each.name in others):
                    sender, receiver = (other, pod) if direction == "Ingress" else (pod, other)
                    for port, protocol in _ports(rule.get("ports"), receiver, numbers):
                        passes.add((sender.name, receiver.name, port, protocol))
            here = 1 if direction == "Ingress" else 0
            everything = {each for each in everything if each[here] != pod.name or each in passes}
    return everything


def types_of(spec: Json) -> Sequence[str]:
    if spec.get("policyTypes"):
        return spec["policyTypes"]
    return ["Ingress", "Egress"] if "egress" in spec else ["Ingress"]


def first_match(  # noqa: PLR0917 - the parts of one packet
    rules: Iterable[Json], direction: str, source: str, target: str, port: int, network: Sequence[str]
) -> bool:
    """True if a security group lets one TCP packet between two addresses pass; every priority is tried in its order."""
    public = not any(IPv4Address(target) in IPv4Network(each) for each in network)
    own = {each["priority"]: each for each in rules if each["direction"] == direction}

    def covers(prefix: str, address: str) -> bool:
        here = any(IPv4Address(address) in IPv4Network(each) for each in network)
        if prefix == "VirtualNetwork":
            return here
        if prefix == "Internet":
            return not here and IPv4Address(address).is_global
        return prefix == "*" or IPv4Address(address) in IPv4Network(prefix)

    for priority in range(100, 4097):
        if (rule := own.get(priority)) is None:
            continue
        low, _, high = str(rule["destinationPortRange"]).partition("-")
        at_port = low == "*" or port in range(int(low), int(high or low) + 1)
        if (
            at_port
            and rule["protocol"] in ("*", "Tcp")
            and covers(rule["sourceAddressPrefix"], source)
            and covers(rule["destinationAddressPrefix"], target)
        ):
            return rule["access"] == "Allow"
    inside = covers("VirtualNetwork", source) and covers("VirtualNetwork", target)
    return inside or (direction == "Outbound" and public)
