"""Rules on what Pods may reach, and on what the API server refuses of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address, ip_network

from physical_ai.findings import Severity
from physical_ai.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE = "kubernetes:core/v1:Namespace"
METADATA = ("169.254.169.254", "168.63.129.16")
ENFORCE = "pod-security.kubernetes.io/enforce"


def _no_metadata(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, block in _blocks(resource):
        excluded = [str(each) for each in known_list(block.get("except"))]
        for address in METADATA:
            if _holds(str(known(block.get("cidr"), "")), address) and not any(_holds(x, address) for x in excluded):
                yield Violation(path, f"add {address}/32 to except, or name a narrower range")


def _blocks(resource: Resource) -> Iterator[tuple[str, dict[str, object]]]:
    for index, rule in enumerate(known_list(known_map(resource.inputs.get("spec")).get("egress"))):
        for place, peer in enumerate(known_list(known_map(rule).get("to"))):
            block = known_map(known_map(peer).get("ipBlock"))
            if block:
                yield f"spec.egress[{index}].to[{place}].ipBlock", block


def _holds(network: str, address: str) -> bool:
    try:
        return ip_address(address) in ip_network(network, strict=False)
    except ValueError:
        return False


def _has_level(resource: Resource, _: Stack) -> Iterable[Violation]:
    labels = known_map(known_map(resource.inputs.get("metadata")).get("labels"))
    if ENFORCE not in labels:
        yield Violation("metadata.labels", f"add {ENFORCE}: baseline, or restricted")


RULES = (
    Rule(
        "no-metadata-service",
        Severity.ERROR,
        "A Pod that reaches a metadata service gets tokens of its node, and its configuration.",
        _no_metadata,
        (NETWORK_POLICY,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service",
    ),
    Rule(
        "pod-security-level",
        Severity.ERROR,
        "In a namespace without a level, a Pod may be privileged and control its node.",
        _has_level,
        (NAMESPACE,),
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/security/pod-security-admission/",
    ),
)
