"""What of a stack decides about connections, read from its resources once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from physical_ai.policies.flows.azure_services import Service, services
from physical_ai.policies.flows.balancers import Balancer, balancers
from physical_ai.policies.flows.declared import EVERYWHERE, PARTIES
from physical_ai.policies.flows.parties import Pod
from physical_ai.policies.flows.security_groups import Group, groups
from physical_ai.policies.model import Resource, known, known_list, known_map

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE = "kubernetes:core/v1:Namespace"
SUBNET, VIRTUAL_NETWORK = "azure-native:network:Subnet", "azure-native:network:VirtualNetwork"
VPN_GATEWAY = "azure-native:network:VirtualNetworkGateway"


@dataclass(frozen=True)
class Subnet:
    resource: Resource
    cidr: IPv4Network
    group: Group | None
    """None where it has none, or one that is not of the stack."""
    has_nodes: bool
    """Whether nodes leave it for the internet; others hold endpoints and gateways."""
    filters_endpoints: bool
    """Whether the group applies to private endpoints in it."""


@dataclass(frozen=True)
class World:
    policies: tuple[Mapping[str, Any], ...]
    """NetworkPolicies that are known, as Kubernetes has them."""
    policy_resources: tuple[Resource, ...]
    """Their resources, in the same order."""
    namespaces: Mapping[str, Resource]
    balancers: tuple[Balancer, ...]
    services: tuple[Service, ...]
    subnets: tuple[Subnet, ...]
    private_clients: tuple[IPv4Network, ...]

    def has(self, party: str) -> bool:
        """Whether the stack has a party of `declared.yaml`."""
        found = PARTIES[party]
        return party in EVERYWHERE or (isinstance(found, Pod) and found.namespace in self.namespaces)

    def is_isolated(self, namespace: str) -> bool:
        """Whether a policy denies everything in it that no other one allows."""
        return any(
            each["metadata"]["namespace"] == namespace
            and not any(each["spec"].get(key) for key in ("podSelector", "ingress", "egress"))
            for each in self.policies
        )

    def of_kind(self, kind: str) -> list[Service]:
        return [each for each in self.services if each.kind == kind]


def read(resources: Sequence[Resource]) -> World:
    declared = [each for each in resources if each.type == NETWORK_POLICY and _is_known(each)]
    return World(
        tuple(each.inputs for each in declared),
        tuple(declared),
        {name: each for each in resources if each.type == NAMESPACE and (name := _metadata(each).get("name"))},
        tuple(balancers(resources)),
        tuple(services(resources)),
        tuple(_subnets(resources)),
        tuple(_private_clients(resources)),
    )


def _is_known(policy: Resource) -> bool:
    spec = policy.inputs.get("spec")
    return bool(_metadata(policy).get("namespace")) and isinstance(spec, Mapping)


def _metadata(resource: Resource) -> dict[str, Any]:
    return {key: known(value) for key, value in known_map(resource.inputs.get("metadata")).items()}


def _subnets(resources: Sequence[Resource]) -> Iterator[Subnet]:
    spaces = [
        IPv4Network(str(text))
        for each in resources
        if each.type == VIRTUAL_NETWORK
        for text in known_list(known_map(each.inputs.get("addressSpace")).get("addressPrefixes"))
    ]
    found = groups(resources, tuple(spaces))
    for each in resources:
        cidr = known(each.inputs.get("addressPrefix"))
        if each.type != SUBNET or cidr is None:
            continue
        inputs = each.inputs
        filters = known(inputs.get("privateEndpointNetworkPolicies")) in ("NetworkSecurityGroupEnabled", "Enabled")
        leaves = any(known_map(inputs.get(key)) for key in ("natGateway", "routeTable"))
        yield Subnet(each, IPv4Network(str(cidr)), _group(each, found), leaves, filters)


def _group(subnet: Resource, found: Sequence[Group]) -> Group | None:
    """By the id, or in a preview, which does not know it, by the dependency."""
    given = subnet.inputs.get("networkSecurityGroup")
    if given is None:
        return None
    identifier = known(known_map(given).get("id"))
    for each in found:
        named = identifier is not None and str(identifier).endswith(f"/networkSecurityGroups/{each.name}")
        if named or (identifier is None and each.resource.urn in subnet.options.depends_on):
            return each
    return None


def _private_clients(resources: Sequence[Resource]) -> Iterator[IPv4Network]:
    for each in resources:
        if each.type == VPN_GATEWAY:
            pool = known_map(known_map(each.inputs.get("vpnClientConfiguration")).get("vpnClientAddressPool"))
            yield from (IPv4Network(str(text)) for text in known_list(pool.get("addressPrefixes")))
