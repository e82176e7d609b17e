"""The walker and a brute-force model, written apart from it, agree on generated policies and security groups."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.naive_reachability import End, allowed, first_match
from workbench.policies import Resource
from workbench.policies.flows.network_policies import Engine, Ground, decide
from workbench.policies.flows.parties import Address, Party, Pod
from workbench.policies.flows.security_groups import GROUP, groups

NAME = "kubernetes.io/metadata.name"
PORTS = (53, 80, 443, 8000)
PODS_RANGE = "10.244.0.0/16"
PODS = [
    End("a/web", "10.244.0.1", "a", (("app", "web"), ("tier", "1")), ((NAME, "a"), ("team", "x")), (("http", 8000),)),
    End("a/db", "10.244.0.1", "a", (("app", "db"),), ((NAME, "a"), ("team", "x"))),
    End("b/web", "10.244.0.1", "b", (("app", "web"),), ((NAME, "b"), ("team", "y")), (("http", 80),)),
    End("b/bare", "10.244.0.1", "b", (), ((NAME, "b"), ("team", "y"))),
]
OUTSIDE = [End("public", "140.82.112.3"), End("office", "192.168.7.7"), End("metadata", "169.254.169.254")]
ENDS = [*PODS, *OUTSIDE]

expressions = st.one_of(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["app", "tier", "team"]),
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(st.sampled_from(["web", "db", "1", "x", "y"]), min_size=1, max_size=2),
        }
    ),
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["app", "tier", "team"]),
            "operator": st.sampled_from(["Exists", "DoesNotExist"]),
        }
    ),
)
labels = st.dictionaries(
    st.sampled_from(["app", "tier", NAME, "team"]), st.sampled_from(["web", "db", "a", "x"]), max_size=1
)
selectors = st.fixed_dictionaries(
    {}, optional={"matchLabels": labels, "matchExpressions": st.lists(expressions, max_size=1)}
)
blocks = st.fixed_dictionaries(
    {"cidr": st.sampled_from(["0.0.0.0/0", "10.0.0.0/8", PODS_RANGE, "192.168.0.0/16", "140.82.112.0/24"])},
    optional={"except": st.lists(st.sampled_from(["10.0.0.0/8", "169.254.0.0/16", "140.82.112.3/32"]), max_size=2)},
)
peers = st.one_of(
    st.fixed_dictionaries({"ipBlock": blocks}),
    st.fixed_dictionaries({"podSelector": selectors}),
    st.fixed_dictionaries({"namespaceSelector": selectors}, optional={"podSelector": selectors}),
)
ports = st.one_of(
    st.fixed_dictionaries(
        {"port": st.sampled_from([*PORTS, "http"])}, optional={"protocol": st.sampled_from(["TCP", "UDP"])}
    ),
    st.fixed_dictionaries({"protocol": st.sampled_from(["TCP", "UDP"])}),
    st.just({"port": 50, "endPort": 500}),
)


def rules(place: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    rule = st.fixed_dictionaries(
        {}, optional={place: st.lists(peers, max_size=2), "ports": st.lists(ports, max_size=2)}
    )
    return st.lists(rule, max_size=2)


policies = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries({"name": st.just("p"), "namespace": st.sampled_from(["a", "b"])}),
        "spec": st.fixed_dictionaries(
            {"podSelector": selectors},
            optional={
                "policyTypes": st.sampled_from([["Ingress"], ["Egress"], ["Ingress", "Egress"]]),
                "ingress": rules("from"),
                "egress": rules("to"),
            },
        ),
    }
)


def party(end: End) -> Party:
    if not end.namespace:
        return Address(end.address)
    return Pod(end.namespace, dict(end.labels), dict(end.ports), dict(end.space))


@examples(50)
@given(st.lists(policies, max_size=4), st.booleans())
def test_policies_mean_the_same_for_both(given_policies: list[dict[str, Any]], addresses: bool) -> None:
    ground = Ground(Engine.ADDRESSES if addresses else Engine.CILIUM, pods=IPv4Network("10.244.0.1/32"))
    passes = allowed(given_policies, ENDS, PORTS, blocks_have_pods=addresses)
    for source, target, port, protocol in product(ENDS, ENDS, PORTS, ("TCP", "UDP")):
        found = decide(given_policies, party(source), party(target), port, protocol, ground)
        packet = (source.name, target.name, port, protocol)
        assert found.allowed is (packet in passes), packet


NETWORK = "10.40.0.0/16"
prefixes = st.sampled_from(["*", "*", "VirtualNetwork", "Internet", NETWORK, "10.40.1.0/24", "20.0.0.0/8"])
group_rules = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.just("r"),
            "priority": st.integers(100, 120),
            "direction": st.sampled_from(["Inbound", "Outbound"]),
            "access": st.sampled_from(["Allow", "Deny"]),
            "protocol": st.sampled_from(["Tcp", "Udp", "*"]),
            "sourceAddressPrefix": prefixes,
            "destinationAddressPrefix": prefixes,
            "destinationPortRange": st.sampled_from(["*", "*", "443", "400-500", "22"]),
        }
    ),
    min_size=2,
    max_size=6,
    unique_by=lambda each: (each["priority"], each["direction"]),
)
HOSTS = ("10.40.1.7", "10.40.2.7", "20.1.2.3", "8.8.8.8")


@examples(200)
@given(group_rules, st.sampled_from((22, 443, 8000)), st.booleans())
def test_security_groups_mean_the_same_for_both(given_rules: list[dict[str, Any]], port: int, wholly: bool) -> None:
    """For single addresses, of which all is the same as some."""
    (group,) = groups([Resource(GROUP, "nsg", {"securityRules": given_rules})], (IPv4Network(NETWORK),))
    for source in HOSTS:
        for target in HOSTS:
            ends = IPv4Network(source), IPv4Network(target)
            into = group.lets_in(ends[0], port, ends[1], wholly=wholly).open
            assert into is first_match(given_rules, "Inbound", source, target, port, [NETWORK])
            out = group.lets_out(*ends, port, wholly=wholly).open
            assert out is first_match(given_rules, "Outbound", source, target, port, [NETWORK])
