"""Judgement of connections by NetworkPolicies, as Kubernetes defines them and the cluster's network plugin enforces
them.

Kubernetes' rules (docs, services-networking/network-policies): a Pod that no policy selects in a direction is open in
that direction; what any policy allows is allowed; a connection must be allowed for its sender, and for its receiver if
the receiver is a Pod.

The plugins differ in `ipBlock`. With Cilium, an `ipBlock` matches only addresses outside of the cluster: it matches
neither Pods nor nodes (AKS docs, azure-cni-powered-by-cilium), nor an API server that Cilium knows
(cilium/cilium#20550). An API server outside of the cluster is assumed to be unmatched, too, which is the stricter case.
With Azure's network policy manager and Calico, an `ipBlock` matches every address, including Pods and nodes (AKS docs,
migrate-from-npm-to-cilium-network-policy).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from physical_ai.kubernetes.selectors import selects_labels
from workbench.policies.flows.parties import Address, Party, Pod, network_of

Json = Mapping[str, Any]
NAME = "kubernetes.io/metadata.name"


class Engine(StrEnum):
    CILIUM = "cilium"
    ADDRESSES = "addresses"
    """Value for Azure's network policy manager and Calico. With them, an `ipBlock` also matches addresses of Pods and
    nodes.
    """
    NONE = "none"
    """Value for a cluster in which nothing enforces policies."""
    UNKNOWN = "unknown"


PRIVATE_RANGE = IPv4Network("10.0.0.0/8")
"""Assumed range of Pods and nodes in a cluster that the stack does not create."""


@dataclass(frozen=True)
class Ground:
    """The cluster's network: the plugin that enforces NetworkPolicies, and the address ranges that an `ipBlock` may
    match.
    """

    engine: Engine = Engine.CILIUM
    pods: IPv4Network = PRIVATE_RANGE
    nodes: tuple[IPv4Network, ...] = (PRIVATE_RANGE,)
    api_server: IPv4Network | None = None
    """Address range of a private API server; None for an API server with a public address."""

    def addresses(self, party: Party) -> tuple[IPv4Network, ...]:
        """Address ranges in which `party`, an end of a connection, may have its address: the address itself for an
        `Address`, the range of all Pods for a `Pod`, and the ranges of the nodes or of the API server for an `Entity`.
        """
        if isinstance(party, Address):
            return (network_of(party.text),)
        if isinstance(party, Pod):
            return (self.pods,)
        if party.name == API_SERVER:
            return (self.api_server or SOME_PUBLIC,)
        return self.nodes


API_SERVER = "api server"
"""Name of the API server's entity in `declared.yaml`."""
SOME_PUBLIC = IPv4Network("20.42.0.4/32")
"""Public address that stands for the API server, whose own public address is not known."""
CILIUM = Ground()


@dataclass(frozen=True)
class Decision:
    """Result of the NetworkPolicies for one connection.

    `allowed`: True or False; None if the cluster's network plugin is not known, and the plugins differ. `by`: index of
    the policy that allows or denies the connection; None if no policy applies. `direction`: `Egress` or `Ingress`, the
    direction in which this policy applies.
    """

    allowed: bool | None
    by: int | None = None
    direction: str = ""


@dataclass(frozen=True)
class _Connection:
    source: Party
    target: Party
    port: int
    protocol: str
    ground: Ground


def reaches(policies: Iterable[Json], source: Party, target: Party, port: int, protocol: str = "TCP") -> bool:
    """True if NetworkPolicies that Cilium enforces allow the connection at both ends."""
    return decide(list(policies), source, target, port, protocol).allowed is True


def decide(  # noqa: PLR0917 - the parts of one connection
    policies: Sequence[Json], source: Party, target: Party, port: int, protocol: str = "TCP", ground: Ground = CILIUM
) -> Decision:
    """Result of the NetworkPolicies for a connection. `by` is a policy that allows it; if the connection is denied at
    an end, `by` is the first policy that selects this end.
    """
    if ground.engine is Engine.NONE:
        return Decision(True)
    if ground.engine is Engine.UNKNOWN:
        one, other = (
            decide(policies, source, target, port, protocol, replace(ground, engine=each))
            for each in (Engine.CILIUM, Engine.ADDRESSES)
        )
        return one if one.allowed is other.allowed else replace(one, allowed=None)
    connection = _Connection(source, target, port, protocol, ground)
    sent = _may(policies, connection, source, target, "Egress")
    received = _may(policies, connection, target, source, "Ingress")
    if not sent.allowed or not received.allowed:
        return sent if not sent.allowed else received
    return received if sent.by is None else sent


def _may(policies: Sequence[Json], connection: _Connection, own: Party, other: Party, kind: str) -> Decision:
    """Result at one end of a connection: `own` is this end, `other` the other end, and `kind` the direction (`Egress`
    or `Ingress`). An end that is no Pod is always open.
    """
    if not isinstance(own, Pod):
        return Decision(True)
    chosen = [
        place
        for place, each in enumerate(policies)
        if each["metadata"]["namespace"] == own.namespace and _selects(each, own) and kind in _kinds(each)
    ]
    key, peers = ("egress", "to") if kind == "Egress" else ("ingress", "from")
    for place in chosen:
        rules: Sequence[Json] = policies[place]["spec"].get(key) or ()
        for rule in rules:
            if _names(rule.get(peers), other, own.namespace, connection.ground) and _opens(
                rule.get("ports"), connection
            ):
                return Decision(True, place, kind)
    return Decision(False, chosen[0], kind) if chosen else Decision(True)


def _kinds(policy: Json) -> Sequence[str]:
    spec = policy["spec"]
    return spec.get("policyTypes") or (["Ingress", "Egress"] if "egress" in spec else ["Ingress"])


def _selects(policy: Json, pod: Pod) -> bool:
    """True if a policy of the Pod's namespace selects the Pod."""
    return selects_labels(policy["spec"].get("podSelector") or {}, pod.labels)


def _names(peers: Sequence[Json] | None, party: Party, namespace: str, ground: Ground) -> bool:
    return not peers or any(_is(peer, party, namespace, ground) for peer in peers)


def _is(peer: Json, party: Party, namespace: str, ground: Ground) -> bool:
    if "ipBlock" in peer:
        return _in_block(peer["ipBlock"], party, ground)
    if not isinstance(party, Pod):
        return False
    spaces = peer.get("namespaceSelector")
    labels = {**party.space, NAME: party.namespace}
    near = party.namespace == namespace if spaces is None else selects_labels(spaces, labels)
    return near and selects_labels(peer.get("podSelector") or {}, party.labels)


def _in_block(block: Json, party: Party, ground: Ground) -> bool:
    """True if an `ipBlock` contains every address that `party`, an end of a connection, may have. For a Pod this is the
    range of all Pods, because the address of a Pod is not known before the Pod runs.
    """
    if ground.engine is Engine.CILIUM and not isinstance(party, Address):
        return False
    cidr = _network(block["cidr"])
    if isinstance(party, Address) and _network(party.text).version != cidr.version:
        return False
    own = ground.addresses(party)
    left_out = [_network(each) for each in block.get("except") or ()]
    return all(
        isinstance(cidr, IPv4Network)
        and each.subnet_of(cidr)
        and not any(isinstance(out, IPv4Network) and each.overlaps(out) for out in left_out)
        for each in own
    )


@cache
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)


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
