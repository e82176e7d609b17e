"""Outputs that Azure returns for a resource after its PUT: the inputs, the service's defaults, and computed values."""

from __future__ import annotations

import copy
import hashlib
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from simulator.azure import clusters, data_outputs, ids, nodes, pools, private_outputs, reserved, telemetry_outputs
from simulator.azure.bodies import Json, get, table
from simulator.azure.guids import guid
from simulator.azure.offers import location
from simulator.azure.registry import models
from simulator.azure.roles import role_guid
from simulator.azure.state import SUCCEEDED, AzureState, Resource

PUBLIC_ADDRESSES = ipaddress.IPv4Network("198.51.100.0/24")
"""Range of all simulated public addresses: a documentation range of RFC 5737, so that nobody can reach the
addresses.
"""


def compute(resource: Resource, azure: AzureState) -> Json:
    """The outputs of a resource, in Pulumi's shape, from its inputs and the state of the simulated cloud."""
    mapping = resource.mapping
    sent = {n: copy.deepcopy(v) for n, v in resource.inputs.items() if n in mapping.inputs and v is not None}
    outputs: Json = {
        **sent,
        "name": ids.name(resource.id),
        "type": mapping.arm_type,
        "azureApiVersion": mapping.api_version,
        "provisioningState": resource.state,
        "etag": f'W/"{guid(resource, "etag")}"',
        "resourceGuid": guid(resource, "resource"),
        "systemData": {"createdAt": moment(resource), "createdBy": azure.directory.deployer, "createdByType": "User"},
    }
    extra = _COMPUTERS.get(resource.kind)
    if extra is not None:
        outputs |= extra(resource, outputs, azure)
    known = set(mapping.outputs)
    return {name: value for name, value in outputs.items() if name in known}


def moment(resource: Resource) -> str:
    return datetime.fromtimestamp(resource.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _group(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"properties": {"provisioningState": SUCCEEDED}}


def _network(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "subnets": [subnet_view(child) for child in azure.children(resource.id, "Subnet")],
        "virtualNetworkPeerings": private_outputs.views(resource, azure),
        "flowLogs": [],
    }


def subnet_view(subnet: Resource) -> Json:
    """A subnet as the GET of its virtual network shows it."""
    return {"id": subnet.id, **subnet.outputs}


def _subnet(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    empty = ("ipConfigurationProfiles", "ipConfigurations", "privateEndpoints", "resourceNavigationLinks")
    return {
        **{name: [] for name in (*empty, "serviceAssociationLinks")},
        "delegations": [
            {"id": f"{resource.id}/delegations/{d.get('name')}", **d} for d in outputs.get("delegations", [])
        ],
        "privateEndpointNetworkPolicies": outputs.get("privateEndpointNetworkPolicies", "Disabled"),
        "privateLinkServiceNetworkPolicies": outputs.get("privateLinkServiceNetworkPolicies", "Enabled"),
        "purpose": "",
    }


def _nat(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "idleTimeoutInMinutes": 4,
        "subnets": users(resource, azure, "natGateway"),
        **_only(outputs, "idleTimeoutInMinutes"),
    }


def _only(outputs: Json, *names: str) -> Json:
    return {name: outputs[name] for name in names if name in outputs}


def users(resource: Resource, azure: AzureState, field: str) -> list[Json]:
    """References to the subnets whose property `field` names this resource."""
    return [
        {"id": subnet.id}
        for subnet in azure.of_kind("Subnet")
        if ids.same(get(subnet.body, f"properties.{field}.id"), resource.id)
    ]


def _public_address(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    number = int(hashlib.sha256(f"{ids.key(resource.id)}#{resource.serial}".encode()).hexdigest(), 16)
    address = PUBLIC_ADDRESSES[1 + number % (PUBLIC_ADDRESSES.num_addresses - 2)]
    defaults = {"ipAddress": str(address), "idleTimeoutInMinutes": 4, "publicIPAddressVersion": "IPv4"}
    gateway = next((nat for nat in azure.of_kind("NatGateway") if _has_address(nat, resource.id)), None)
    # Only the gateway's id is shown: its own outputs would refer back to this address.
    used = {"natGateway": {"id": gateway.id}} if gateway else {}
    return {**defaults, **_only(outputs, "ipAddress", "idleTimeoutInMinutes", "publicIPAddressVersion"), **used}


def _has_address(gateway: Resource, address_id: str) -> bool:
    given: list[Json] = get(gateway.body, "properties.publicIpAddresses") or []
    return any(ids.same(each.get("id"), address_id) for each in given)


def _security_group(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    rules = [
        {"id": f"{resource.id}/securityRules/{rule.get('name')}", "provisioningState": SUCCEEDED, "etag": "", **rule}
        for rule in outputs.get("securityRules", [])
    ]
    subnets = users(resource, azure, "networkSecurityGroup")
    return {
        "securityRules": rules,
        "defaultSecurityRules": [],
        "flowLogs": [],
        "networkInterfaces": [],
        "subnets": subnets,
    }


def _identity(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "principalId": guid(resource, "principal"),
        "clientId": guid(resource, "client"),
        "tenantId": azure.directory.tenant,
    }


def _assignment(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    root = f"/subscriptions/{azure.directory.subscription}/providers/Microsoft.Authorization/roleDefinitions"
    by, at = azure.directory.deployer, moment(resource)
    return {
        "scope": "/" + str(resource.inputs["scope"]).strip("/"),
        "roleDefinitionId": f"{root}/{role_guid(outputs['roleDefinitionId'])}",
        "principalType": outputs.get("principalType") or azure.principal_type(outputs["principalId"]),
        "createdBy": by,
        "updatedBy": by,
        "createdOn": at,
        "updatedOn": at,
    }


def _workspace(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    sku = {"name": "PerGB2018", **table(outputs, "sku"), "lastSkuUpdate": moment(resource)}
    return {
        "customerId": guid(resource, "customer"),
        "retentionInDays": outputs.get("retentionInDays", 30),
        "sku": sku,
        "createdDate": moment(resource),
        "modifiedDate": moment(resource),
        **telemetry_outputs.scoped(resource, outputs, azure),
        **identity_output(resource, outputs, azure),
    }


def identity_output(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    """`identity` as a GET returns it: user-assigned identities as a map with their ids."""
    given = outputs.get("identity")
    if not given:
        return {}
    result: Json = {"type": given.get("type")}
    if "SystemAssigned" in str(given.get("type")):
        result |= {"principalId": guid(resource, "system"), "tenantId": azure.directory.tenant}
    assigned: Iterable[str] = given.get("userAssignedIdentities") or ()
    if assigned:
        result["userAssignedIdentities"] = {reference: _identity_ids(reference, azure) for reference in assigned}
    return {"identity": result}


def _identity_ids(reference: str, azure: AzureState) -> Json:
    resource = azure.get(reference, "UserAssignedIdentity")
    outputs: Mapping[str, Any] = resource.outputs if resource else {}
    return {"clientId": outputs.get("clientId", ""), "principalId": outputs.get("principalId", "")}


@models("mc-oidc-url")
def _cluster(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    body = clusters.effective(resource.body, resource.id)
    properties, place, name = body["properties"], location(str(body.get("location", ""))), ids.name(resource.id)
    unique = guid(resource, "cluster")
    prefix = properties.get("dnsPrefix") or properties.get("fqdnSubdomain") or name
    host = f"{prefix}-{unique[:8]}.hcp.{place}.azmk8s.io"
    issuer = f"https://{place}.oic.prod-aks.azure.com/{azure.directory.tenant}/{unique}/"
    oidc = table(properties, "oidcIssuerProfile")
    return {
        "agentPoolProfiles": pool_views(resource, azure) or outputs.get("agentPoolProfiles", []),
        "azurePortalFQDN": f"{prefix}-{unique[:8]}.portal.hcp.{place}.azmk8s.io",
        "currentKubernetesVersion": resource.facts["version"],
        "disableLocalAccounts": properties["disableLocalAccounts"],
        "eTag": guid(resource, f"etag-{resource.facts.get('puts', 0)}"),
        "enableRBAC": properties["enableRBAC"],
        "fqdn": host,
        "identityProfile": {"kubeletidentity": kubelet_identity(resource, azure)},
        "kubernetesVersion": properties["kubernetesVersion"],
        "maxAgentPools": 100,
        "networkProfile": properties["networkProfile"],
        "nodeResourceGroup": properties["nodeResourceGroup"],
        "oidcIssuerProfile": {**oidc, "issuerURL": issuer if oidc.get("enabled") else ""},
        "powerState": {"code": "Running"},
        "privateFQDN": private_outputs.private_name(properties, f"{prefix}-{unique[:8]}", place),
        "resourceUID": unique.replace("-", "")[:24],
        "sku": body["sku"],
        "supportPlan": properties["supportPlan"],
        **identity_output(resource, outputs, azure),
    }


def kubelet_identity(cluster: Resource, azure: AzureState) -> Json:
    """Identity with which a cluster's nodes pull images: the existing identity that the cluster's PUT names or, if it
    names none, the identity that AKS creates in the node resource group.
    """
    given = get(cluster.body, "properties.identityProfile.kubeletidentity.resourceId")
    resource = azure.get(given, "UserAssignedIdentity")
    if resource is not None:
        ids_ = {"clientId": resource.outputs["clientId"], "objectId": resource.outputs["principalId"]}
        return {"resourceId": resource.id, **ids_}
    group = get(clusters.effective(cluster.body, cluster.id), "properties.nodeResourceGroup")
    root = f"/subscriptions/{azure.directory.subscription}/resourceGroups/{group}"
    made = f"{root}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{ids.name(cluster.id)}-agentpool"
    return {"resourceId": made, "clientId": guid(cluster, "kubelet"), "objectId": guid(cluster, "kubelet-object")}


def pool_views(cluster: Resource, azure: AzureState) -> list[Json]:
    """agentPoolProfiles as the cluster's GET shows them: all its pools, declared inline or as resources of
    their own.
    """
    return [
        {**{n: v for n, v in pool.outputs.items() if n != "azureApiVersion"}, **_pool_type(pool)}
        for pool in azure.children(cluster.id, "AgentPool")
        if pool.outputs
    ]


def _pool_type(pool: Resource) -> Json:
    """The property `type` of a pool (VMSS or other) for agentPoolProfiles. AgentPool outputs lack it, because their
    `type` is the ARM type.
    """
    return {"type": get(pool.body, "properties.type") or "VirtualMachineScaleSets"}


def _pool(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    cluster = azure.get(ids.parent(resource.id), "ManagedCluster")
    body: Mapping[str, Any] = clusters.effective(cluster.body, cluster.id) if cluster else {}
    spec = pools.effective(table(resource.body, "properties"), body, azure.offers)
    version = str(resource.facts.get("version", ""))
    return {
        **{name: value for name, value in spec.items() if name != "type"},
        "count": resource.facts.get("count", spec["count"]),
        "currentOrchestratorVersion": version,
        "orchestratorVersion": spec.get("orchestratorVersion") or version,
        "eTag": guid(resource, f"etag-{resource.facts.get('puts', 0)}"),
        "nodeImageVersion": nodes.image_name(
            nodes.os_release(spec, azure.offers.ubuntu(version)), str(resource.facts.get("image", nodes.IMAGE_VERSION))
        ),
        "type": resource.mapping.arm_type,
    }


_COMPUTERS: Mapping[str, Callable[[Resource, Json, AzureState], Json]] = {
    "ResourceGroup": _group,
    "VirtualNetwork": _network,
    "Subnet": _subnet,
    "NatGateway": _nat,
    "PublicIPAddress": _public_address,
    "NetworkSecurityGroup": _security_group,
    "UserAssignedIdentity": _identity,
    "RoleAssignment": _assignment,
    "Workspace": _workspace,
    "AzureMonitorWorkspace": telemetry_outputs.monitor_workspace,
    "Grafana": telemetry_outputs.grafana,
    "DataCollectionEndpoint": telemetry_outputs.scoped,
    "PrivateLinkScope": telemetry_outputs.monitor_scope,
    "ManagedPrivateEndpoint": telemetry_outputs.managed_endpoint,
    "RouteTable": private_outputs.route_table,
    "VirtualNetworkPeering": private_outputs.peering,
    "PrivateEndpoint": private_outputs.private_endpoint,
    "PrivateDnsZone": private_outputs.zone,
    "VirtualNetworkLink": private_outputs.link,
    **data_outputs.COMPUTERS,
    "ManagedCluster": _cluster,
    "AgentPool": _pool,
    "CapacityReservationGroup": reserved.group_outputs,
    "CapacityReservation": reserved.reservation_outputs,
}
