"""The walker of `physai reach` and the kernel agree on which packets arrive, for generated rules and policies.

Left to the deep tests: that the walker agrees with a brute-force model is tried in
tests/unit/policies/test_flows_held_against_a_naive_model.py. Skipped where no namespaces with rules can be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import product
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.host.packets import Line, Packet, line, obstacle
from tests.support.examples import examples
from tests.support.naive_reachability import End, selected, types_of
from tests.unit.policies.test_flows_held_against_a_naive_model import (
    NETWORK,
    OUTSIDE,
    PODS,
    PODS_RANGE,
    PORTS,
    group_rules,
    party,
    policies,
)
from workbench.policies import Resource
from workbench.policies.flows.network_policies import Engine, Ground, decide
from workbench.policies.flows.security_groups import GROUP, groups

Json = Mapping[str, Any]
pytestmark = [pytest.mark.deep, pytest.mark.skipif(obstacle() is not None, reason=f"no packets here ({obstacle()})")]
SENDERS = ("10.40.1.7", "10.40.2.7", "20.1.2.3", "8.8.8.8")
RECEIVERS = ("10.40.1.9", "10.40.2.9", "20.1.2.5", "8.8.4.4")
TAGS = {"*": ["0.0.0.0/0"], "VirtualNetwork": [NETWORK], "Internet": ["8.0.0.0/8", "20.0.0.0/8"]}
"""Prefixes of the tags, as far as the senders and receivers tell them apart."""
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without smaller examples after a failure: each takes a second."""
PASS, DROP, LAST = "lookup main", "prohibit", 5000


@pytest.fixture(scope="module")
def wire() -> Iterator[Line]:
    with line() as made:
        yield made


def transports(protocol: str) -> list[str]:
    return ["tcp", "udp"] if protocol == "*" else [protocol.lower()]


def of_group(rules: Sequence[Json], direction: str) -> list[str]:
    """A security group's rules in one direction, and Azure's own after them."""
    found: list[str] = []
    for rule in (each for each in rules if each["direction"] == direction):
        sources, targets = (
            TAGS.get(rule[key], [rule[key]]) for key in ("sourceAddressPrefix", "destinationAddressPrefix")
        )
        port = "" if rule["destinationPortRange"] == "*" else f"dport {rule['destinationPortRange']} "
        action = PASS if rule["access"] == "Allow" else DROP
        found += [
            f"{rule['priority']} from {source} to {target} ipproto {protocol} {port}{action}"
            for source, target, protocol in product(sources, targets, transports(rule["protocol"]))
        ]
    inside = [f"{LAST} from {NETWORK} to {NETWORK} {PASS}"]
    out = [f"{LAST + 1} to {each} {PASS}" for each in TAGS["Internet"]] if direction == "Outbound" else []
    return [*found, *inside, *out, f"{LAST + 2} {DROP}"]


@settings(examples(40), phases=QUICK)
@given(rules=group_rules)
def test_security_groups_let_pass_what_the_kernel_lets_pass(wire: Line, rules: list[dict[str, Any]]) -> None:
    wire.addresses(SENDERS, RECEIVERS)
    wire.rules(of_group(rules, "Outbound"), of_group(rules, "Inbound"))
    packets = [*product(SENDERS, RECEIVERS, (22, 443, 8000), ("TCP", "UDP"))]
    arrived = wire.arrived(packets)
    (group,) = groups([Resource(GROUP, "nsg", {"securityRules": rules})], (IPv4Network(NETWORK),))
    for packet in packets:
        ends, port, protocol = (IPv4Network(packet[0]), IPv4Network(packet[1])), packet[2], packet[3]
        out = group.lets_out(ends[0], ends[1], port, wholly=True, protocol=protocol).open
        into = group.lets_in(ends[0], port, ends[1], wholly=True, protocol=protocol).open
        assert (packet in arrived) is (out and into), packet


def address(end: End, *, receives: bool) -> str:
    """A Pod's address; as a sender and as a receiver it has different ones of the same range."""
    return f"10.244.{int(receives)}.{10 + PODS.index(end)}" if end in PODS else end.address


def prefixes(block: Json, *, has_pods: bool) -> list[str]:
    """Prefixes of an ipBlock without its holes, and without Pods where the plugin does not match their addresses."""
    found = [IPv4Network(block["cidr"])]
    for hole in map(IPv4Network, [*(block.get("except") or ()), *(() if has_pods else (PODS_RANGE,))]):
        found = [part for each in found for part in _without(each, hole)]
    return [str(each) for each in found]


def _without(network: IPv4Network, hole: IPv4Network) -> list[IPv4Network]:
    if network.subnet_of(hole):
        return []
    return list(network.address_exclude(hole)) if hole.subnet_of(network) else [network]


def others(rule: Json, place: str, home: str, *, has_pods: bool, receives: bool) -> list[str]:
    """Prefixes of a rule's peers."""
    if not rule.get(place):
        return ["0.0.0.0/0"]
    found: list[str] = []
    for peer in rule[place]:
        if "ipBlock" in peer:
            found += prefixes(peer["ipBlock"], has_pods=has_pods)
            continue
        spaces = peer.get("namespaceSelector")
        for pod in PODS:
            near = pod.namespace == home if spaces is None else selected(spaces, dict(pod.space))
            if near and selected(peer.get("podSelector") or {}, dict(pod.labels)):
                found.append(f"{address(pod, receives=receives)}/32")
    return found


def ports(rule: Json, receiver: End | None) -> list[str]:
    """Selectors of a rule's ports; a name is a number only at a Pod that has it."""
    if not rule.get("ports"):
        return [""]
    found: list[str] = []
    for each in rule["ports"]:
        port, protocol = each.get("port"), each.get("protocol", "TCP").lower()
        numbers = [number for name, number in (receiver.ports if receiver else ()) if name == port]
        if port is None:
            found.append(f"ipproto {protocol} ")
        elif isinstance(port, str):
            found += [f"ipproto {protocol} dport {number} " for number in numbers]
        else:
            found.append(f"ipproto {protocol} dport {port}-{each.get('endPort', port)} ")
    return found


def of_policies(given_policies: Sequence[Json], direction: str, *, has_pods: bool) -> list[str]:
    """Rules of all Pods in one direction: what a policy allows passes, and nothing else of a Pod that is selected."""
    key, place = ("egress", "to") if direction == "Egress" else ("ingress", "from")
    found: list[str] = []
    for pod in PODS:
        own = [
            each["spec"]
            for each in given_policies
            if each["metadata"]["namespace"] == pod.namespace
            and selected(each["spec"].get("podSelector") or {}, dict(pod.labels))
            and direction in types_of(each["spec"])
        ]
        here = f"{address(pod, receives=direction == 'Ingress')}/32"
        for rule in (rule for spec in own for rule in spec.get(key) or ()):
            for other in others(rule, place, pod.namespace, has_pods=has_pods, receives=direction == "Egress"):
                if direction == "Ingress":
                    found += [f"100 from {other} to {here} {port}{PASS}" for port in ports(rule, pod)]
                    continue
                to = next((each for each in PODS if other == f"{address(each, receives=True)}/32"), None)
                ends = [(other, to)] if to is not None or not _has_pods(other) else [
                    (other, None), *((f"{address(each, receives=True)}/32", each) for each in PODS)
                ]  # fmt: skip
                found += [f"100 from {here} to {end} {port}{PASS}" for end, pod_ in ends for port in ports(rule, pod_)]
        if own:
            found.append(f"200 {'to' if direction == 'Ingress' else 'from'} {here} {DROP}")
    return found


def _has_pods(prefix: str) -> bool:
    return IPv4Network(PODS_RANGE).subnet_of(IPv4Network(prefix))


def walked(
    given_policies: Sequence[Json], ends: tuple[End, End], port: int, protocol: str, ground: Ground
) -> bool | None:
    source, target = (party(each) for each in ends)
    return decide(given_policies, source, target, port, protocol, ground).allowed


@settings(examples(100), phases=QUICK)
@given(given_policies=st.lists(policies, max_size=4), has_pods=st.booleans())
def test_policies_let_pass_what_the_kernel_lets_pass(
    wire: Line, given_policies: list[dict[str, Any]], has_pods: bool
) -> None:
    ground = Ground(Engine.ADDRESSES if has_pods else Engine.CILIUM, pods=IPv4Network(PODS_RANGE))
    wire.rules(*(of_policies(given_policies, each, has_pods=has_pods) for each in ("Egress", "Ingress")))
    for senders, receivers in ((PODS, [*PODS, *OUTSIDE]), (OUTSIDE, PODS)):
        wire.addresses(
            [address(each, receives=False) for each in senders], [address(each, receives=True) for each in receivers]
        )
        packets: dict[Packet, tuple[End, End]] = {
            (address(one, receives=False), address(other, receives=True), port, protocol): (one, other)
            for one, other, port, protocol in product(senders, receivers, PORTS, ("TCP", "UDP"))
        }
        arrived = wire.arrived(list(packets))
        for packet, ends in packets.items():
            assert (packet in arrived) is walked(given_policies, ends, packet[2], packet[3], ground), (packet, ends)
