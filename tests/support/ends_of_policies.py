"""Proof that a NetworkPolicy changes nothing: all ends and ports that the policies can tell apart are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from physical_ai.kubernetes.selectors import selects_labels
from workbench.policies.flows.declared import PARTIES
from workbench.policies.flows.network_policies import NAME, Ground, decide
from workbench.policies.flows.parties import Address, Entity, Party, Pod

Json = Mapping[str, Any]
OUTSIDE = ("8.8.8.8", "10.9.8.7", "169.254.169.254", "168.63.129.16")


def changes_nothing(policies: Sequence[Json], one: Json, instead: Json | None, ground: Ground) -> bool:
    """True if no connection is decided differently when the policy `one` is removed, or replaced by `instead`. An end
    of a connection is a Pod, an address or a node.
    """
    left = [*(each for each in policies if each is not one), *([instead] if instead is not None else [])]
    pods = list(_pods([*policies]))
    own = [each for each in pods if _selects(one, each)]
    others: list[Party] = [*pods, *(Address(each) for each in _addresses(policies)), Entity("node")]
    connections = [*product(own, others), *product(others, own)]
    return all(
        decide(policies, source, target, port, protocol, ground).allowed
        is decide(left, source, target, port, protocol, ground).allowed
        for source, target in connections
        for port in _ports(one)
        for protocol in ("TCP", "UDP")
    )


def _selects(policy: Json, pod: Pod) -> bool:
    here = policy["metadata"]["namespace"] == pod.namespace
    return here and selects_labels(policy["spec"].get("podSelector") or {}, pod.labels)


def _pods(policies: Sequence[Json]) -> list[Pod]:
    """Pods to try: in each namespace one without labels and one for each selector, and the parties of the policies'
    flows.
    """
    found: dict[tuple[Any, ...], Pod] = {}
    for space, labels in [*_labelled(policies), ("elsewhere", {})]:
        pod = Pod(space, labels, next((each.ports for each in _parties() if each.labels == labels), {}))
        found.setdefault((space, *sorted(labels.items())), pod)
    return list(found.values())


def _labelled(policies: Sequence[Json]) -> Iterator[tuple[str, dict[str, str]]]:
    for policy in policies:
        here = str(policy["metadata"]["namespace"])
        yield here, {}
        for labels in _satisfying(policy["spec"].get("podSelector") or {}):
            yield here, labels
        for peer in _peers(policy):
            spaces = (peer.get("namespaceSelector") or {}).get("matchLabels") or {}
            for labels in _satisfying(peer.get("podSelector") or {}):
                yield str(spaces.get(NAME, here)), labels
    yield from ((each.namespace, dict(each.labels)) for each in _parties())


def _satisfying(selector: Json) -> Iterator[dict[str, str]]:
    """Sets of labels that a selector selects: one set for each combination of the values of its `In` expressions."""
    wanted = [(key, [value]) for key, value in (selector.get("matchLabels") or {}).items()]
    wanted += [
        (each["key"], each["values"]) for each in selector.get("matchExpressions") or () if each["operator"] == "In"
    ]
    for values in product(*(values for _, values in wanted)):
        yield dict(zip((key for key, _ in wanted), values, strict=True))


def _peers(policy: Json) -> Iterator[Json]:
    for key, place in (("ingress", "from"), ("egress", "to")):
        for rule in policy["spec"].get(key) or ():
            yield from rule.get(place) or ()


def _addresses(policies: Sequence[Json]) -> list[str]:
    blocks = [peer["ipBlock"] for policy in policies for peer in _peers(policy) if "ipBlock" in peer]
    edges = [text.partition("/")[0] for each in blocks for text in (each["cidr"], *(each.get("except") or ()))]
    return list(dict.fromkeys([*OUTSIDE, *edges]))


def _ports(policy: Json) -> list[int]:
    """Ports to try: those that the policy names, the port after each, and one that no policy names."""
    given = [
        port
        for key in ("ingress", "egress")
        for rule in policy["spec"].get(key) or ()
        for port in rule.get("ports") or ()
    ]
    numbers = [each["port"] for each in given if isinstance(each.get("port"), int)]
    numbers += [each["endPort"] for each in given if "endPort" in each]
    named = [pod.ports[each["port"]] for each in given for pod in _parties() if each.get("port") in pod.ports]
    return sorted({1, *numbers, *(each + 1 for each in numbers), *named})


def _parties() -> list[Pod]:
    return [each for each in PARTIES.values() if isinstance(each, Pod)]
