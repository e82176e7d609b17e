"""Facts about a stack's network that decide about connections, read once from the stack's resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.api_server import CLUSTER, ApiServer, api_server
from workbench.policies.flows.azure_services import Service, services
from workbench.policies.flows.balancers import Balancer, balancers
from workbench.policies.flows.declared import BESIDE, DECLARED, EVERYWHERE, PARTIES
from workbench.policies.flows.firewalls import Firewall, firewalls
from workbench.policies.flows.identity import last_part, named, of_type
from workbench.policies.flows.leaving import Leaving, leaving
from workbench.policies.flows.network_policies import CILIUM, Engine, Ground, decide
from workbench.policies.flows.parties import Entity, Party, Pod
from workbench.policies.flows.route_tables import VIRTUAL_NETWORK, VPN_GATEWAY, clients_of
from workbench.policies.flows.security_groups import Group, groups
from workbench.policies.model import Resource, known, known_list, known_map

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE = "kubernetes:core/v1:Namespace"
SUBNET = "azure-native:network:Subnet"
POOL = "azure-native:containerservice:AgentPool"
ENGINES: Mapping[str, Engine] = {
    "cilium": Engine.CILIUM,
    "azure": Engine.ADDRESSES,
    "calico": Engine.ADDRESSES,
    "none": Engine.NONE,
}
"""Plugin that enforces NetworkPolicies, for each value of the cluster's `networkPolicy` (AKS docs,
use-network-policies).
"""
ANY_VALUE = frozenset({"osmo.workflow_id"})
"""Labels of a flow endpoint whose value may be different in each Pod of the endpoint."""
STRANGER, UNNAMED_PORT = Pod("a namespace that no policy names"), 1
"""Source and port of a test connection: a Pod in a namespace, and a port, that no policy names. Policies that allow
this connection to a Pod allow every connection to it.
"""


@dataclass(frozen=True)
class Subnet:
    resource: Resource
    cidr: IPv4Network
    group: Group | None
    """Security group of the subnet, even if it belongs to another stack (see `Group.foreign`); None if the subnet has
    none.
    """
    has_nodes: bool
    """True for a subnet with nodes; other subnets have endpoints or gateways."""
    filters_endpoints: bool
    """True if the security group applies to private endpoints in the subnet."""
    routes_endpoints: bool
    """True if route tables apply to packets for private endpoints in the subnet."""
    leaves: Leaving
    """Ways of packets out of the subnet."""


@dataclass(frozen=True)
class World:
    policies: tuple[Mapping[str, Any], ...]
    """All known NetworkPolicies, as Kubernetes objects."""
    policy_resources: tuple[Resource, ...]
    """Resources that declare the NetworkPolicies in `policies`, in the same order."""
    namespaces: Mapping[str, Resource]
    balancers: tuple[Balancer, ...]
    services: tuple[Service, ...]
    subnets: tuple[Subnet, ...]
    private_clients: tuple[IPv4Network, ...]
    ground: Ground = CILIUM
    cluster: Resource | None = None
    """Resource of the stack's cluster; None if the stack does not create the cluster."""
    api_server: ApiServer | None = None
    pod_range: IPv4Network | None = None
    """Address range of Pods in an overlay network; None if Pods have addresses of their node's subnet."""
    workloads: tuple[Pod, ...] = ()
    """Pods of the workloads that the program declares itself. Workloads of charts are not among them."""
    resources: tuple[Resource, ...] = ()
    firewalls: tuple[Firewall, ...] = ()
    """Firewalls whose rules are known."""
    running: tuple[Pod, ...] | None = None
    """Running Pods of a live cluster; None if only the stack's declaration is known."""

    def has(self, party: str) -> bool:
        """True if the stack has the flow endpoint that `declared.yaml` names `party`."""
        found = PARTIES[party]
        if party in EVERYWHERE or not isinstance(found, Pod):
            return party in EVERYWHERE
        if party in DECLARED:
            return any(
                each.namespace == found.namespace and found.labels.items() <= each.labels.items()
                for each in self.workloads
            )
        return BESIDE.get(party, found.namespace) in self.namespaces

    def members(self, party: str) -> tuple[Party, ...]:
        """Ends of connections for the flow endpoint that `declared.yaml` names `party`: its running Pods; if none is
        known to run, one Pod with the declared labels. For an endpoint that is no Pod, the endpoint itself.
        """
        found = PARTIES[party]
        return self.selected(found) if isinstance(found, Pod) else (found,)

    def has_running(self, party: str) -> bool:
        """True if a Pod of the flow endpoint `party` is running."""
        found = PARTIES[party]
        return isinstance(found, Pod) and any(
            each.namespace == found.namespace and _is_like(each, found) for each in self.running or ()
        )

    def selected(self, pod: Pod) -> tuple[Party, ...]:
        """Running Pods with the namespace and labels of `pod`. If none is known to run, only `pod` itself, with the
        labels of its namespace.
        """
        alike = [each for each in self.running or () if each.namespace == pod.namespace and _is_like(each, pod)]
        if alike:
            return tuple(Entity("node") if each.on_host else each for each in alike)
        space = _metadata(self.namespaces[pod.namespace]).get("labels") if pod.namespace in self.namespaces else None
        return (replace(pod, space=known_map(space)),)

    @property
    def node_subnets(self) -> list[Subnet]:
        return [each for each in self.subnets if each.has_nodes]

    def is_isolated(self, pod: Pod) -> bool:
        """True if the policies deny every connection to the Pod that they do not explicitly allow."""
        return decide(self.policies, STRANGER, pod, UNNAMED_PORT).allowed is False

    def of_kind(self, kind: str) -> list[Service]:
        return [each for each in self.services if each.kind == kind]


def _is_like(running: Pod, pod: Pod) -> bool:
    """True if a running Pod has all labels of `pod`. Only labels in ANY_VALUE may have another value."""
    return all(
        key in running.labels and (key in ANY_VALUE or running.labels[key] == value)
        for key, value in pod.labels.items()
    )


def read(resources: Sequence[Resource]) -> World:
    declared = [each for each in resources if each.type == NETWORK_POLICY and _is_known(each)]
    cluster = next(iter(of_type(resources, CLUSTER)), None)
    server = api_server(resources)
    profile = known_map(cluster.inputs.get("networkProfile")) if cluster is not None else {}
    pods = _pod_range(profile)
    subnets = tuple(_subnets(resources, known(profile.get("outboundType")), pods))
    nodes = tuple(each.cidr for each in subnets if each.has_nodes)
    return World(
        tuple(each.inputs for each in declared),
        tuple(declared),
        {name: each for each in resources if each.type == NAMESPACE and (name := _metadata(each).get("name"))},
        tuple(balancers(resources)),
        tuple(services(resources)),
        subnets,
        tuple(_private_clients(resources)),
        _ground(cluster, profile, pods, nodes, server),
        cluster,
        server,
        pods,
        tuple(_workloads(resources)),
        tuple(resources),
        tuple(firewalls(resources)),
    )


def _ground(
    cluster: Resource | None,
    profile: Mapping[str, Any],
    pods: IPv4Network | None,
    nodes: tuple[IPv4Network, ...],
    server: ApiServer | None,
) -> Ground:
    engine = Engine.UNKNOWN
    if cluster is not None:
        engine = ENGINES.get(str(known(profile.get("networkPolicy"), "none")), Engine.UNKNOWN)
    inside = nodes[0] if server is not None and server.is_private and nodes else None
    default = Ground()
    return Ground(engine, pods or (nodes[0] if nodes else default.pods), nodes or default.nodes, inside)


def _pod_range(profile: Mapping[str, Any]) -> IPv4Network | None:
    given = known(profile.get("podCidr"))
    return IPv4Network(str(given)) if given and known(profile.get("networkPluginMode")) == "overlay" else None


def _workloads(resources: Sequence[Resource]) -> Iterator[Pod]:
    for each in resources:
        if not each.type.startswith("kubernetes:"):
            continue
        spec = known_map(each.inputs.get("spec"))
        spec = known_map(known_map(spec.get("jobTemplate")).get("spec")) or spec
        labels = known_map(known_map(known_map(spec.get("template")).get("metadata")).get("labels"))
        if labels:
            yield Pod(str(_metadata(each).get("namespace") or "default"), labels)


def _is_known(policy: Resource) -> bool:
    spec = policy.inputs.get("spec")
    return bool(_metadata(policy).get("namespace")) and isinstance(spec, Mapping)


def _metadata(resource: Resource) -> dict[str, Any]:
    return {key: known(value) for key, value in known_map(resource.inputs.get("metadata")).items()}


def _subnets(resources: Sequence[Resource], outbound: str | None, pods: IPv4Network | None) -> Iterator[Subnet]:
    spaces = [
        IPv4Network(str(text))
        for each in resources
        if each.type == VIRTUAL_NETWORK
        for text in known_list(known_map(each.inputs.get("addressSpace")).get("addressPrefixes"))
    ]
    spaces += [
        IPv4Network(str(own)) for each in of_type(resources, SUBNET) if (own := known(each.inputs.get("addressPrefix")))
    ]
    # Azure's own rules let Pods of an overlay pass, too (AKS docs, concepts-network-azure-cni-overlay).
    found = groups(resources, tuple([*spaces, pods] if pods is not None else spaces))
    barriers = firewalls(resources)
    for each in of_type(resources, SUBNET):
        cidr = known(each.inputs.get("addressPrefix"))
        if cidr is None:
            continue
        policies = known(each.inputs.get("privateEndpointNetworkPolicies"))
        yield Subnet(
            each,
            IPv4Network(str(cidr)),
            _group(each, found),
            _has_nodes(each, resources),
            policies in ("NetworkSecurityGroupEnabled", "Enabled"),
            policies in ("RouteTableEnabled", "Enabled"),
            leaving(each, resources, outbound, barriers),
        )


def _has_nodes(subnet: Resource, resources: Sequence[Resource]) -> bool:
    """True if a node pool of the stack uses the subnet. If the stack declares no node pools, True if the subnet has a
    NAT gateway or a route table, which only subnets with nodes have.
    """
    pools = [(pool, pool.inputs) for pool in of_type(resources, POOL)]
    pools += [
        (cluster, known_map(each))
        for cluster in of_type(resources, CLUSTER)
        for each in known_list(cluster.inputs.get("agentPoolProfiles"))
    ]
    if not pools:
        return any(known_map(subnet.inputs.get(key)) for key in ("natGateway", "routeTable"))
    return any(named(each.get("vnetSubnetID"), pool, [subnet], "subnetName") is subnet for pool, each in pools)


def _group(subnet: Resource, found: Sequence[Group]) -> Group | None:
    """The subnet's security group, found by its id, or, in a preview, where ids are not known, by the Pulumi
    dependency. For a group of another stack, the result is a Group without rules, with the name in `foreign`. None if
    the subnet has no group.
    """
    given = subnet.inputs.get("networkSecurityGroup")
    if given is None:
        return None
    identifier = known(known_map(given).get("id"))
    for each in found:
        named = identifier is not None and str(identifier).endswith(f"/networkSecurityGroups/{each.name}")
        if named or (identifier is None and each.resource.urn in subnet.options.depends_on):
            return each
    return Group(subnet, (), foreign=last_part(given))


def _private_clients(resources: Sequence[Resource]) -> Iterator[IPv4Network]:
    for each in resources:
        if each.type == VPN_GATEWAY:
            yield from clients_of(each)
