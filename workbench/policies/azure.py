"""Rules on access to the cluster, its network, and permissions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from physical_ai.catalog.private_link import GATEWAY_SUBNET
from physical_ai.findings import Severity
from physical_ai.settings.facts.addresses import opens_to_the_internet, wide_networks
from workbench.policies.data_services import PUBLIC_ACCESS
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER

ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
SUBNET = "azure-native:network:Subnet"
USER_IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
VIRTUAL_NETWORK = "azure-native:network:VirtualNetwork"

GUARDED_TYPES = (
    "azure-native:resources:ResourceGroup",
    VIRTUAL_NETWORK,
    SUBNET,
    "azure-native:network:NatGateway",
    "azure-native:network:PublicIPAddress",
    MANAGED_CLUSTER,
    AGENT_POOL,
    *PUBLIC_ACCESS,
)
"""Types of resources that must be protected: their deletion or replacement would lose the cluster, its addresses, data,
or GPUs that may not be available again.
"""

_WIDE_SCOPE = re.compile(r"^/?(subscriptions/[^/]+|providers/Microsoft\.Management/managementGroups/[^/]+)?/?$", re.I)


def _protected(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if stack.is_production and not resource.options.protect:
        yield Violation("", "set `protect: true` in the stack's settings")


def _local_accounts(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known(resource.inputs.get("disableLocalAccounts")) is not True:
        yield Violation("disableLocalAccounts", "write true")
    entra = known_map(resource.inputs.get("aadProfile"))
    for name in ("managed", "enableAzureRBAC"):
        if known(entra.get(name)) is not True:
            yield Violation(f"aadProfile.{name}", "write true")


def _api_reach(resource: Resource, stack: Stack) -> Iterable[Violation]:
    access = known_map(resource.inputs.get("apiServerAccessProfile"))
    ranges = known_list(access.get("authorizedIPRanges"))
    if opens_to_the_internet(str(each) for each in ranges):
        fix = "name your own networks; together these allow more than 16.7 million addresses"
        yield Violation("apiServerAccessProfile.authorizedIPRanges", fix)
    if stack.is_production and not ranges and known(access.get("enablePrivateCluster")) is not True:
        yield Violation("apiServerAccessProfile", "set cluster.apiAccess.authorizedIpRanges")


def _narrow_ranges(resource: Resource, _: Stack) -> Iterable[Violation]:
    ranges = known_list(known_map(resource.inputs.get("apiServerAccessProfile")).get("authorizedIPRanges"))
    for network in wide_networks(str(each) for each in ranges):
        fix = f"{network} has {network.num_addresses} addresses; name networks of a /24 or smaller"
        yield Violation("apiServerAccessProfile.authorizedIPRanges", fix)


def _no_run_command(resource: Resource, _: Stack) -> Iterable[Violation]:
    access = known_map(resource.inputs.get("apiServerAccessProfile"))
    if known(access.get("disableRunCommand")) is not True:
        yield Violation("apiServerAccessProfile.disableRunCommand", "write true")


def _workload_identity(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known(known_map(resource.inputs.get("oidcIssuerProfile")).get("enabled")) is not True:
        yield Violation("oidcIssuerProfile.enabled", "write true")
    security = known_map(resource.inputs.get("securityProfile"))
    if known(known_map(security.get("workloadIdentity")).get("enabled")) is not True:
        yield Violation("securityProfile.workloadIdentity.enabled", "write true")


def _principal_type(resource: Resource, _: Stack) -> Iterable[Violation]:
    fresh = any(_type_of(urn) == USER_IDENTITY for urn in resource.options.depends_on)
    if fresh and not known(resource.inputs.get("principalType")):
        yield Violation("principalType", "write User, Group or ServicePrincipal")


def _type_of(urn: str) -> str:
    """The type token of the resource in a URN. A URN also contains the types of the resource's parents."""
    return urn.split("::")[2].rpartition("$")[2] if urn.count("::") >= 3 else ""


def _narrow_scope(resource: Resource, _: Stack) -> Iterable[Violation]:
    scope = known(resource.inputs.get("scope"))
    if scope is not None and _WIDE_SCOPE.match(str(scope)):
        yield Violation(
            "scope", f"{str(scope) or 'the tenant'} is too broad; assign the role on the resource that is used"
        )


def _inline_subnets(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known_list(resource.inputs.get("subnets")):
        yield Violation("subnets", "declare each as a Subnet resource")


def _outbound(resource: Resource, _: Stack) -> Iterable[Violation]:
    """Violations if the subnet `resource` has no network security group, or leaves its outbound access to Azure's
    default.

    A subnet that is delegated to a service, or belongs to a VPN gateway, gets its outbound access from Azure. A subnet
    for private endpoints needs no outbound access.
    """
    inputs = resource.inputs
    is_gateways, is_delegated = known(inputs.get("subnetName")) == GATEWAY_SUBNET, bool(inputs.get("delegations"))
    if not is_gateways and "networkSecurityGroup" not in inputs:
        yield Violation("networkSecurityGroup", "associate one")
    if is_gateways or is_delegated:
        return
    if known(inputs.get("defaultOutboundAccess")) is not False:
        yield Violation("defaultOutboundAccess", "write false")
    has_endpoints = known(inputs.get("privateEndpointNetworkPolicies")) == "NetworkSecurityGroupEnabled"
    if not has_endpoints and not {"natGateway", "routeTable"} & set(inputs):
        yield Violation("natGateway", "associate one, or a route table that leads to a firewall")


RULES = (
    Rule(
        "protected-in-production",
        Severity.ERROR,
        "Deleting it loses the cluster, its addresses, data, or GPU capacity that may not be available again.",
        _protected,
        GUARDED_TYPES,
        topic=Topic.RELIABILITY,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
    ),
    Rule(
        "entra-only",
        Severity.ERROR,
        "A local account is a certificate that cannot be revoked; Entra and Azure RBAC decide access.",
        _local_accounts,
        (MANAGED_CLUSTER,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/manage-local-accounts-managed-azure-ad",
    ),
    Rule(
        "api-server-reach",
        Severity.ERROR,
        "The production API server accepts requests from known networks only.",
        _api_reach,
        (MANAGED_CLUSTER,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges",
    ),
    Rule(
        "api-server-ranges",
        Severity.WARNING,
        "Whoever shares a large range with you, such as other customers of a provider, can log in from it.",
        _narrow_ranges,
        (MANAGED_CLUSTER,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges",
    ),
    Rule(
        "no-run-command",
        Severity.WARNING,
        "Commands that Azure's API runs in the cluster pass by the ranges and the private network of the API server.",
        _no_run_command,
        (MANAGED_CLUSTER,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/access-private-cluster",
    ),
    Rule(
        "workload-identity",
        Severity.ERROR,
        "Without it Pods need stored credentials for Azure.",
        _workload_identity,
        (MANAGED_CLUSTER,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/aks/workload-identity-overview",
    ),
    Rule(
        "role-principal-type",
        Severity.ERROR,
        "A principal created in the same deployment is seconds old, and ARM would not find it in Entra.",
        _principal_type,
        (ROLE_ASSIGNMENT,),
        topic=Topic.RELIABILITY,
        link="https://learn.microsoft.com/azure/role-based-access-control/role-assignments-template",
        needs=("depends_on",),
    ),
    Rule(
        "role-scope",
        Severity.ERROR,
        "A role on the subscription applies to everything that is ever created in it.",
        _narrow_scope,
        (ROLE_ASSIGNMENT,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/role-based-access-control/scope-overview",
    ),
    Rule(
        "no-inline-subnets",
        Severity.ERROR,
        "An update of the network would delete the subnets that are resources of their own.",
        _inline_subnets,
        (VIRTUAL_NETWORK,),
        topic=Topic.RELIABILITY,
        link="https://www.pulumi.com/registry/packages/azure-native/api-docs/network/virtualnetwork/",
    ),
    Rule(
        "subnet-outbound",
        Severity.ERROR,
        "Outbound traffic of nodes must use a NAT gateway or a firewall, whose address a public API server accepts.",
        _outbound,
        (SUBNET,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/virtual-network/ip-services/default-outbound-access",
    ),
)
