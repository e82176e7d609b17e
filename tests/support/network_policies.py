"""Who reaches whom under NetworkPolicies, as Kubernetes defines them and Cilium enforces them.

Kubernetes' rules: a Pod that no policy of a direction selects is open in it; policies add up; what a Pod sends must be
allowed for it and, where the receiver is a Pod, for that. Cilium's: an `ipBlock` matches addresses outside of the
cluster only, neither Pods nor nodes (AKS docs, azure-cni-powered-by-cilium) nor an API server that it knows
(cilium/cilium#20550). That one outside of the cluster matches none either is assumed: the stricter case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from physical_ai.kubernetes.selectors import holds

Json = Mapping[str, Any]


GATEWAY_LABELS = {"app.kubernetes.io/name": "osmo-gateway", "app.kubernetes.io/component": "envoy"}
"""Of the Pods that are the only way into the control plane (NVIDIA/OSMO
deployments/charts/service/templates/_gateway-helpers.tpl)."""
GATEWAY_PORT = "envoy-http"
"""Name of their port, encrypted or not (templates/gateway.yaml there). Both were read on the main branch."""


@dataclass(frozen=True)
class Pod:
    """A Pod with its own address."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """Numbers of its ports by name."""


@dataclass(frozen=True)
class Address:
    """An address outside of the cluster."""

    text: str


@dataclass(frozen=True)
class Entity:
    """A node, a Pod on the node's network, or the API server: what no selector and no `ipBlock` names."""

    name: str


Party = Pod | Address | Entity


@dataclass(frozen=True)
class _Connection:
    source: Party
    target: Party
    port: int
    protocol: str


def reaches(policies: Iterable[Json], source: Party, target: Party, port: int, protocol: str = "TCP") -> bool:
    """Whether a connection is allowed by both of its ends."""
    found, connection = list(policies), _Connection(source, target, port, protocol)
    return _may(found, connection, source, target, "Egress") and _may(found, connection, target, source, "Ingress")


def _may(policies: Sequence[Json], connection: _Connection, own: Party, other: Party, kind: str) -> bool:
    """Whether one end allows it, in the direction `kind`."""
    if not isinstance(own, Pod):
        return True
    chosen = [each for each in policies if kind in _kinds(each) and _selects(each, own)]
    if not chosen:
        return True
    key, peers = ("egress", "to") if kind == "Egress" else ("ingress", "from")
    rules: list[Json] = [rule for each in chosen for rule in each["spec"].get(key) or ()]
    return any(
        _names(rule.get(peers), other, own.namespace) and _opens(rule.get("ports"), connection) for rule in rules
    )


def _kinds(policy: Json) -> Sequence[str]:
    spec = policy["spec"]
    return spec.get("policyTypes") or (["Ingress", "Egress"] if "egress" in spec else ["Ingress"])


def _selects(policy: Json, pod: Pod) -> bool:
    return bool(
        policy["metadata"]["namespace"] == pod.namespace and _matches(policy["spec"]["podSelector"], pod.labels)
    )


def _names(peers: Sequence[Json] | None, party: Party, namespace: str) -> bool:
    return not peers or any(_is(peer, party, namespace) for peer in peers)


def _is(peer: Json, party: Party, namespace: str) -> bool:
    if "ipBlock" in peer:
        block = peer["ipBlock"]
        return (
            isinstance(party, Address)
            and ip_address(party.text) in ip_network(block["cidr"])
            and not any(ip_address(party.text) in ip_network(each) for each in block.get("except", ()))
        )
    if not isinstance(party, Pod):
        return False
    spaces = peer.get("namespaceSelector")
    if spaces is None:
        near = party.namespace == namespace
    else:
        near = _matches(spaces, {"kubernetes.io/metadata.name": party.namespace})
    return near and _matches(peer.get("podSelector", {}), party.labels)


def _opens(ports: Sequence[Json] | None, connection: _Connection) -> bool:
    return not ports or any(
        each.get("protocol", "TCP") == connection.protocol
        and _number(each["port"], connection.target) == connection.port
        for each in ports
    )


def _number(port: int | str, target: Party) -> int | None:
    if isinstance(port, int):
        return port
    return target.ports.get(port) if isinstance(target, Pod) else None


def _matches(selector: Json, labels: Mapping[str, str]) -> bool:
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        holds(each, labels) for each in selector.get("matchExpressions") or ()
    )
