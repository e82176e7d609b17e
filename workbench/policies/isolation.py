"""Rules on connections of Pods, and on the Pod security level of namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address, ip_network

from parts.registry import PARTS
from physical_ai.catalog.azure_addresses import AZURE_DNS, INSTANCE_METADATA
from physical_ai.catalog.osmo import CONTROL_NAMESPACE, OPERATOR_NAMESPACE, WORKFLOWS_NAMESPACE
from physical_ai.findings import Severity
from physical_ai.planning.isolation import NOT_INTERNET
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE = "kubernetes:core/v1:Namespace"
METADATA = (INSTANCE_METADATA, AZURE_DNS)
RELEASE = "kubernetes:helm.sh/v3:Release"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
GPU_OPERATOR, REQUESTS_POLICY = "gpu-operator", "gpu-requests"
PRIVILEGED = frozenset({GPU_OPERATOR, *(name for part in PARTS for name in part.privileged)})
"""Namespaces whose Pods need access to their node: the GPU Operator's namespace, since the GPU Operator loads drivers,
and namespaces that an optional part lists in `privileged`.
"""
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


def _level(resource: Resource, _: Stack) -> Iterable[Violation]:
    metadata = known_map(resource.inputs.get("metadata"))
    given = known(known_map(metadata.get("labels")).get(ENFORCE))
    if given == "privileged" and known(metadata.get("name")) not in PRIVILEGED:
        yield Violation(
            f"metadata.labels.{ENFORCE}",
            "write baseline or restricted; of a part that needs the node, give the reason as privileged in its part.py",
        )


def _denies_all(resource: Resource) -> bool:
    spec = known_map(resource.inputs.get("spec"))
    both = {"Ingress", "Egress"} <= set(known_list(spec.get("policyTypes")))
    return both and not any(spec.get(key) for key in ("podSelector", "ingress", "egress"))


def _default_deny(resource: Resource, stack: Stack) -> Iterable[Violation]:
    name = known(known_map(resource.inputs.get("metadata")).get("name"))
    if name not in (WORKFLOWS_NAMESPACE, OPERATOR_NAMESPACE, CONTROL_NAMESPACE):
        return
    releases = stack.of_type(RELEASE)
    if name == CONTROL_NAMESPACE and not any(known(each.inputs.get("namespace")) == name for each in releases):
        return
    inside = [
        each
        for each in stack.of_type(NETWORK_POLICY)
        if known(known_map(each.inputs.get("metadata")).get("namespace")) == name
    ]
    if not any(_denies_all(each) for each in inside):
        yield Violation("", "declare a NetworkPolicy for all its Pods and both directions that allows nothing")


def _private_ranges(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known(known_map(resource.inputs.get("metadata")).get("namespace")) != WORKFLOWS_NAMESPACE:
        return
    for path, block in _blocks(resource):
        cidr = str(known(block.get("cidr"), ""))
        excluded = {str(each) for each in known_list(block.get("except"))}
        for given in NOT_INTERNET:
            inside = _holds(cidr, given.partition("/")[0]) and _length(cidr) < _length(given)
            if inside and given not in excluded:
                yield Violation(path, f"add {given} to except, or name a narrower range")


def _length(network: str) -> int:
    return ip_network(network, strict=False).prefixlen


def _by_request(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if known(resource.inputs.get("name")) != GPU_OPERATOR:
        return
    for each in stack.of_type(BINDING):
        spec = known_map(each.inputs.get("spec"))
        actions = known_list(spec.get("validationActions"))
        if known(spec.get("policyName")) == REQUESTS_POLICY and (not actions or "Deny" in actions):
            return
    fix = "set admission.gpuPods to warn or deny"
    yield Violation("", f"{fix}, or declare a ValidatingAdmissionPolicyBinding of {REQUESTS_POLICY} that denies")


RULES = (
    Rule(
        "namespace-default-deny",
        Severity.ERROR,
        "What no policy selects may talk to everything: tasks to databases, and everything to tasks.",
        _default_deny,
        (NAMESPACE,),
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-policies",
        needs_whole_stack=True,
    ),
    Rule(
        "tasks-leave-private-ranges",
        Severity.ERROR,
        "A task that reaches private ranges scans the virtual network, a peered hub, and the offices behind it.",
        _private_ranges,
        (NETWORK_POLICY,),
        topic=Topic.SECURITY,
        link="https://www.rfc-editor.org/rfc/rfc1918",
    ),
    Rule(
        "gpus-by-request",
        Severity.WARNING,
        "An image whose NVIDIA_VISIBLE_DEVICES is all sees every GPU of its node, whoever has requested them.",
        _by_request,
        (RELEASE,),
        topic=Topic.SECURITY,
        link="https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md",
        needs_whole_stack=True,
    ),
    Rule(
        "pod-security-privileged",
        Severity.ERROR,
        "At the level privileged every Pod may take over its node.",
        _level,
        (NAMESPACE,),
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
    ),
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
