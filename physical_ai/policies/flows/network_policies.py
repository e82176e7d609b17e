"""Who reaches whom under NetworkPolicies, as Kubernetes defines them and Cilium enforces them.

Kubernetes' rules: a Pod that no policy of a direction selects is open in it; policies add up; what a Pod sends must be
allowed for it and, where the receiver is a Pod, for that. Cilium's: an `ipBlock` matches addresses outside of the
cluster only, neither Pods nor nodes (AKS docs, azure-cni-powered-by-cilium) nor an API server that it knows
(cilium/cilium#20550). That one outside of the cluster matches none either is assumed: the stricter case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

from physical_ai.kubernetes.selectors import selects_labels
from physical_ai.policies.flows.parties import Address, Party, Pod

Json = Mapping[str, Any]
NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Decision:
    """Whether one connection is allowed; `by` is the place in the list of a policy that decides, None if none does."""

    allowed: bool
    by: int | None = None
    direction: str = ""


@dataclass(frozen=True)
class _Connection:
    source: Party
    target: Party
    port: int
    protocol: str


def reaches(policies: Iterable[Json], source: Party, target: Party, port: int, protocol: str = "TCP") -> bool:
    """Whether a connection is allowed by both of its ends."""
    return decide(list(policies), source, target, port, protocol).allowed


def decide(policies: Sequence[Json], source: Party, target: Party, port: int, protocol: str = "TCP") -> Decision:
    """The same, with the policy that decides: one that allows it, or the first that selects the closed end."""
    connection = _Connection(source, target, port, protocol)
    sent = _may(policies, connection, source, target, "Egress")
    received = _may(policies, connection, target, source, "Ingress")
    if not sent.allowed or not received.allowed:
        return sent if not sent.allowed else received
    return received if sent.by is None else sent


def _may(policies: Sequence[Json], connection: _Connection, own: Party, other: Party, kind: str) -> Decision:
    """Whether one end allows it, in the direction `kind`."""
    if not isinstance(own, Pod):
        return Decision(True)
    chosen = [place for place, each in enumerate(policies) if kind in _kinds(each) and _selects(each, own)]
    key, peers = ("egress", "to") if kind == "Egress" else ("ingress", "from")
    for place in chosen:
        rules: Sequence[Json] = policies[place]["spec"].get(key) or ()
        for rule in rules:
            if _names(rule.get(peers), other, own.namespace) and _opens(rule.get("ports"), connection):
                return Decision(True, place, kind)
    return Decision(False, chosen[0], kind) if chosen else Decision(True)


def _kinds(policy: Json) -> Sequence[str]:
    spec = policy["spec"]
    return spec.get("policyTypes") or (["Ingress", "Egress"] if "egress" in spec else ["Ingress"])


def _selects(policy: Json, pod: Pod) -> bool:
    here = policy["metadata"]["namespace"] == pod.namespace
    return here and selects_labels(policy["spec"].get("podSelector") or {}, pod.labels)


def _names(peers: Sequence[Json] | None, party: Party, namespace: str) -> bool:
    return not peers or any(_is(peer, party, namespace) for peer in peers)


def _is(peer: Json, party: Party, namespace: str) -> bool:
    if "ipBlock" in peer:
        block = peer["ipBlock"]
        return (
            isinstance(party, Address)
            and ip_address(party.text) in ip_network(block["cidr"])
            and not any(ip_address(party.text) in ip_network(each) for each in block.get("except") or ())
        )
    if not isinstance(party, Pod):
        return False
    spaces = peer.get("namespaceSelector")
    here = {NAME: party.namespace}
    near = party.namespace == namespace if spaces is None else selects_labels(spaces, here)
    return near and selects_labels(peer.get("podSelector") or {}, party.labels)


def _opens(ports: Sequence[Json] | None, connection: _Connection) -> bool:
    return not ports or any(_is_port(each, connection) for each in ports)


def _is_port(given: Json, connection: _Connection) -> bool:
    if given.get("protocol", "TCP") != connection.protocol:
        return False
    port: int | str | None = given.get("port")
    if port is None:
        return True
    if isinstance(port, int):
        return port <= connection.port <= given.get("endPort", port)
    return isinstance(connection.target, Pod) and connection.target.ports.get(port) == connection.port
