"""Managed cluster rules on identities and access: who the cluster acts as, and who may use it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from simulator.azure import clusters, ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

ASSIGN = "Microsoft.ManagedIdentity/userAssignedIdentities/{}/assign/action"
JOIN = "Microsoft.Network/virtualNetworks/subnets/join/action"


@on_put("ManagedCluster", "mc-identity", "mc-one-uai", "mc-uai-with-system")
def identity(put: Put) -> Iterator[Refusal]:
    given: dict[str, Any] = table(put.body, "identity")
    kind, assigned = given.get("type"), table(given, "userAssignedIdentities")
    if kind in (None, "None"):
        if not put.properties.get("servicePrincipalProfile"):
            message = "The cluster needs an identity or a service principal."
            yield refuse(put, "mc-identity", message, "identity")
    elif kind == "UserAssigned" and len(assigned) != 1:
        message = f"A UserAssigned cluster has exactly one user-assigned identity, not {len(assigned)}."
        yield refuse(put, "mc-one-uai", message, "identity.userAssignedIdentities")
    elif kind == "SystemAssigned" and assigned:
        message = "userAssignedIdentities need identity.type UserAssigned."
        yield refuse(put, "mc-uai-with-system", message, "identity.userAssignedIdentities")
    for reference in assigned:
        if put.azure.get(reference, "UserAssignedIdentity") is None:
            message = f"The user-assigned identity {reference} was not found."
            yield refuse(put, "mc-identity", message, "identity.userAssignedIdentities")


def control_plane_principal(put: Put) -> str | None:
    """Object id of the cluster's user-assigned control plane identity; None if the cluster has no such identity, or if
    the identity does not exist.
    """
    resource = put.azure.get(clusters.control_plane_identity(put.body), "UserAssignedIdentity")
    return str(resource.outputs.get("principalId")) if resource else None


@on_put("ManagedCluster", "mc-kubelet-identity", "mc-kubelet-identity-perm")
def kubelet_identity(put: Put) -> Iterator[Refusal]:
    """Refusals of a kubelet identity that the control plane identity may not assign to nodes.

    AKS checks this during the PUT.
    """
    reference = get(put.properties, "identityProfile.kubeletidentity.resourceId")
    if reference is None:
        return
    target = "properties.identityProfile"
    if get(put.body, "identity.type") != "UserAssigned":
        message = "A custom kubelet identity needs a user-assigned control plane identity."
        yield refuse(put, "mc-kubelet-identity", message, target)
        return
    if put.azure.get(reference, "UserAssignedIdentity") is None:
        yield refuse(put, "mc-identity", f"The kubelet identity {reference} was not found.", target)
        return
    principal, name = control_plane_principal(put), ids.name(reference)
    if principal and not put.azure.allowed(principal, ASSIGN.format(name), reference):
        message = (
            f"The cluster identity (object id {principal}) does not have the role Managed Identity Operator on the"
        )
        message += (
            f" kubelet identity {reference}. It must be assigned before; a fresh assignment needs minutes to work."
        )
        yield refuse(put, "mc-kubelet-identity-perm", message, target)


@on_put("ManagedCluster", "net-subnet-perm", "arm-linked")
def joins_subnets(put: Put) -> Iterator[Refusal]:
    """Refusals of inline pools whose subnet the control plane identity may not join."""
    principal = control_plane_principal(put)
    for profile in items(put.body, "properties.agentPoolProfiles"):
        reference = profile.get("vnetSubnetID")
        if principal and put.azure.get(reference, "Subnet") and not put.azure.allowed(principal, JOIN, reference):
            message = (
                f"The client '{principal}' with object id '{principal}' does not have permission to perform action"
            )
            message += (
                f" '{JOIN}' on the linked scope(s) '{reference}' or the linked scope(s) are invalid. A fresh role"
            )
            message += " assignment needs minutes to work."
            yield refuse(put, "net-subnet-perm", message, "properties.agentPoolProfiles")


@on_put("AgentPool")
def pool_joins_subnet(put: Put) -> Iterator[Refusal]:
    """Refusals of a separate pool whose subnet the cluster's identity may not join."""
    cluster = put.azure.get(ids.parent(put.id), "ManagedCluster")
    resource = cluster and put.azure.get(clusters.control_plane_identity(cluster.body), "UserAssignedIdentity")
    reference = put.properties.get("vnetSubnetID")
    if not resource or put.azure.get(reference, "Subnet") is None:
        return
    principal = str(resource.outputs.get("principalId"))
    if not put.azure.allowed(principal, JOIN, str(reference)):
        message = f"The client '{principal}' with object id '{principal}' does not have permission to perform action"
        message += f" '{JOIN}' on the linked scope(s) '{reference}'."
        yield refuse(put, "net-subnet-perm", message, "properties.vnetSubnetID")


@on_put("ManagedCluster", "mc-local-accounts", "mc-azure-rbac", "mc-aad-rbac", "mc-wi-oidc")
def entra(put: Put) -> Iterator[Refusal]:
    aad: dict[str, Any] | None = put.properties.get("aadProfile")
    managed = bool(aad and aad.get("managed"))
    if put.properties.get("disableLocalAccounts") and not managed:
        message = "Disabling local accounts is only supported on clusters with managed Microsoft Entra integration."
        yield refuse(put, "mc-local-accounts", message, "properties.disableLocalAccounts")
    if aad and aad.get("enableAzureRBAC") and not managed:
        message = "Azure RBAC needs managed Microsoft Entra integration."
        yield refuse(put, "mc-azure-rbac", message, "properties.aadProfile.enableAzureRBAC")
    if aad and put.properties.get("enableRBAC") is False:
        message = "Microsoft Entra integration needs Kubernetes RBAC."
        yield refuse(put, "mc-aad-rbac", message, "properties.enableRBAC")
    workload = get(put.properties, "securityProfile.workloadIdentity.enabled")
    if workload and not get(put.properties, "oidcIssuerProfile.enabled"):
        message = "Workload identity needs oidcIssuerProfile.enabled."
        yield refuse(put, "mc-wi-oidc", message, "properties.securityProfile.workloadIdentity")


@on_put("ManagedCluster", "mc-authorized-private", "mc-authorized-format")
def authorized_ranges(put: Put) -> Iterator[Refusal]:
    ranges, target = (
        items(put.properties, "apiServerAccessProfile.authorizedIPRanges"),
        "properties.apiServerAccessProfile.authorizedIPRanges",
    )
    if ranges and get(put.properties, "apiServerAccessProfile.enablePrivateCluster"):
        message = "authorizedIPRanges do not apply to a private cluster."
        yield refuse(put, "mc-authorized-private", message, target)
    if len(ranges) > 200:
        yield refuse(put, "mc-authorized-format", f"{len(ranges)} IP ranges; at most 200 are allowed.", target)
    for text in ranges:
        try:
            network = ipaddress.ip_network(str(text))
        except ValueError:
            yield refuse(put, "mc-authorized-format", f"'{text}' is not an IPv4 address or CIDR.", target)
            continue
        if network.version != 4 or (network.is_private and network.prefixlen):
            message = f"'{text}' is not a public IPv4 range."
            # Examples and tests use documentation ranges as public ones.
            if not any(network.overlaps(ipaddress.ip_network(doc)) for doc in ("198.51.100.0/24", "203.0.113.0/24")):
                yield refuse(put, "mc-authorized-format", message, target)


ZONE = "Microsoft.Network/privateDnsZones"


@on_put(
    "ManagedCluster",
    "mc-private-dns-id",
    "mc-private-dns-perm",
    "mc-private-dns-name",
    "mc-private-dns-public",
    "mc-dns-none-public",
)
def private_dns(put: Put) -> Iterator[Refusal]:
    access: dict[str, Any] = table(put.properties, "apiServerAccessProfile")
    zone, target = str(access.get("privateDNSZone") or ""), "properties.apiServerAccessProfile.privateDNSZone"
    if not zone:
        return
    if not access.get("enablePrivateCluster"):
        yield refuse(put, "mc-private-dns-public", "privateDNSZone needs enablePrivateCluster.", target)
    if zone == "none" and access.get("enablePrivateClusterPublicFQDN") is False:
        message = "privateDNSZone none needs enablePrivateClusterPublicFQDN."
        yield refuse(put, "mc-dns-none-public", message, target)
    if "/" not in zone:
        return
    label = "private" if access.get("enableVnetIntegration") else "privatelink"
    wanted = f"{label}.{str(put.body.get('location', '')).replace(' ', '').lower()}.azmk8s.io"
    name = ids.name(zone).lower()
    if ZONE.lower() not in zone.lower() or not (name == wanted or name.endswith(f".{wanted}")):
        yield refuse(put, "mc-private-dns-name", f"Zone '{name}' is not {wanted} or a subdomain of it.", target)
    if get(put.body, "identity.type") == "SystemAssigned":
        message = "A custom private DNS zone needs a user-assigned identity."
        yield refuse(put, "mc-private-dns-id", message, target)
    principal = control_plane_principal(put)
    if principal and not put.azure.allowed(principal, f"{ZONE}/join/action", zone):
        message = f"The cluster identity (object id {principal}) lacks Private DNS Zone Contributor on {zone}."
        yield refuse(put, "mc-private-dns-perm", message, target)
