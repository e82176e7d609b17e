"""Mocked responses of Azure to the program's requests, with the values that the program reads."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.engine_values import SECRET, SIGNATURE
from physical_ai.settings.guards import is_map
from workbench.mocks import data_answers

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
DEPLOYER = "99999999-8888-7777-6666-555555555555"
NAT_ADDRESS = "203.0.113.7"

AKS_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: aks
clusters:
- name: aks
  cluster: {server: "https://aks.hcp.westus2.azmk8s.io:443", certificate-authority-data: Q0E=}
contexts:
- name: aks
  context: {cluster: aks, user: clusterUser_rg_aks}
users:
- name: clusterUser_rg_aks
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubelogin
      args: [get-token, --environment, AzurePublicCloud, --server-id, 6dae42f8-4368-4678-94ff-3960e28e3630,
             --client-id, 80faf920-1908-4b52-b5ef-a8e7bedfc67a, --tenant-id, t, --login, devicecode]
      env: null
      provideClusterInfo: false
"""
"""The kubeconfig that AKS returns for a cluster with Entra enabled, as of kubelogin 0.2."""


def nat_address(name: str) -> str:
    """Mocked public address of the NAT gateway `name`: NAT_ADDRESS, or another fixed address if the name ends in `-v2`
    or `-zone-N`.
    """
    suffixes = ("-v2", "-zone-1", "-zone-2", "-zone-3")
    return next((f"203.0.113.{8 + place}" for place, end in enumerate(suffixes) if name.endswith(end)), NAT_ADDRESS)


def guid(*parts: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(parts)))


_ARM_PATHS = {
    **data_answers.PATHS,
    "azure-native:resources:ResourceGroup": ("", "resourceGroupName"),
    "azure-native:network:VirtualNetwork": ("Microsoft.Network/virtualNetworks", "virtualNetworkName"),
    "azure-native:network:NetworkSecurityGroup": (
        "Microsoft.Network/networkSecurityGroups",
        "networkSecurityGroupName",
    ),
    "azure-native:network:SecurityRule": (
        "Microsoft.Network/networkSecurityGroups/g/securityRules",
        "securityRuleName",
    ),
    "azure-native:network:PublicIPAddress": ("Microsoft.Network/publicIPAddresses", "publicIpAddressName"),
    "azure-native:network:NatGateway": ("Microsoft.Network/natGateways", "natGatewayName"),
    "azure-native:compute:CapacityReservationGroup": (
        "Microsoft.Compute/capacityReservationGroups",
        "capacityReservationGroupName",
    ),
    "azure-native:compute:CapacityReservation": (
        "Microsoft.Compute/capacityReservationGroups/g/capacityReservations",
        "capacityReservationName",
    ),
    "azure-native:network:Subnet": ("Microsoft.Network/virtualNetworks/v/subnets", "subnetName"),
    "azure-native:network:RouteTable": ("Microsoft.Network/routeTables", "routeTableName"),
    "azure-native:network:VirtualNetworkGateway": (
        "Microsoft.Network/virtualNetworkGateways",
        "virtualNetworkGatewayName",
    ),
    "azure-native:network:VirtualNetworkPeering": (
        "Microsoft.Network/virtualNetworks/v/virtualNetworkPeerings",
        "virtualNetworkPeeringName",
    ),
    "azure-native:network:PrivateEndpoint": ("Microsoft.Network/privateEndpoints", "privateEndpointName"),
    "azure-native:network:PrivateDnsZoneGroup": (
        "Microsoft.Network/privateEndpoints/e/privateDnsZoneGroups",
        "privateDnsZoneGroupName",
    ),
    "azure-native:privatedns:PrivateZone": ("Microsoft.Network/privateDnsZones", "privateZoneName"),
    "azure-native:privatedns:VirtualNetworkLink": (
        "Microsoft.Network/privateDnsZones/z/virtualNetworkLinks",
        "virtualNetworkLinkName",
    ),
    "azure-native:privatedns:PrivateRecordSet": ("Microsoft.Network/privateDnsZones/z/A", "relativeRecordSetName"),
    "azure-native:dns:RecordSet": ("Microsoft.Network/dnsZones/z/CNAME", "relativeRecordSetName"),
    "azure-native:dnsresolver:DnsResolver": ("Microsoft.Network/dnsResolvers", "dnsResolverName"),
    "azure-native:dnsresolver:InboundEndpoint": (
        "Microsoft.Network/dnsResolvers/r/inboundEndpoints",
        "inboundEndpointName",
    ),
    "azure-native:managedidentity:UserAssignedIdentity": (
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        "resourceName",
    ),
    "azure-native:containerservice:ManagedCluster": ("Microsoft.ContainerService/managedClusters", "resourceName"),
    "azure-native:containerservice:AgentPool": (
        "Microsoft.ContainerService/managedClusters/c/agentPools",
        "agentPoolName",
    ),
    "azure-native:containerservice:MaintenanceConfiguration": (
        "Microsoft.ContainerService/managedClusters/c/maintenanceConfigurations",
        "configName",
    ),
    "azure-native:operationalinsights:Workspace": ("Microsoft.OperationalInsights/workspaces", "workspaceName"),
    "azure-native:authorization:RoleAssignment": ("Microsoft.Authorization/roleAssignments", "roleAssignmentName"),
    "azure-native:monitor:DiagnosticSetting": ("Microsoft.Insights/diagnosticSettings", "name"),
    "azure-native:monitor:AzureMonitorWorkspace": ("Microsoft.Monitor/accounts", "azureMonitorWorkspaceName"),
    "azure-native:monitor:DataCollectionEndpoint": (
        "Microsoft.Insights/dataCollectionEndpoints",
        "dataCollectionEndpointName",
    ),
    "azure-native:monitor:DataCollectionRule": ("Microsoft.Insights/dataCollectionRules", "dataCollectionRuleName"),
    "azure-native:monitor:DataCollectionRuleAssociation": (
        "Microsoft.Insights/dataCollectionRuleAssociations",
        "associationName",
    ),
    "azure-native:monitor:ActionGroup": ("Microsoft.Insights/actionGroups", "actionGroupName"),
    "azure-native:dashboard:Grafana": ("Microsoft.Dashboard/grafana", "workspaceName"),
    "azure-native:dashboard:ManagedPrivateEndpoint": (
        "Microsoft.Dashboard/grafana/g/managedPrivateEndpoints",
        "managedPrivateEndpointName",
    ),
    "azure-native:monitor:PrivateLinkScope": ("Microsoft.Insights/privateLinkScopes", "scopeName"),
    "azure-native:monitor:PrivateLinkScopedResource": (
        "Microsoft.Insights/privateLinkScopes/s/scopedResources",
        "name",
    ),
    "azure-native:alertsmanagement:PrometheusRuleGroup": (
        "Microsoft.AlertsManagement/prometheusRuleGroups",
        "ruleGroupName",
    ),
}


def azure_name(type_: str, inputs: Mapping[str, Any]) -> str | None:
    """The name of a resource in Azure or Kubernetes; None if its inputs do not contain the name."""
    if type_ in _ARM_PATHS:
        name = inputs.get(_ARM_PATHS[type_][1])
    else:
        metadata = inputs.get("metadata")
        name = metadata.get("name") if is_map(metadata) else None
    return name if isinstance(name, str) else None


def computes(type_: str) -> bool:
    """True for a resource type with outputs that Azure, Kubernetes or a provider computes."""
    return type_ in _ARM_PATHS or type_.startswith("random:") or type_ == "pulumi:index:Stash"


def created(
    type_: str, name: str, inputs: dict[str, Any], subscription: str = SUBSCRIPTION
) -> tuple[str, dict[str, Any]]:
    """Id and outputs that Azure or Kubernetes would return for a created resource."""
    if type_.startswith("random:"):
        made = hashlib.sha256(name.encode())
        text, coded = made.hexdigest()[: int(inputs["length"])], base64.b64encode(made.digest()).decode()
        secret = {SIGNATURE: SECRET}
        return name, {**inputs, "result": {**secret, "value": text}, "base64": {**secret, "value": coded}}
    if type_ == "pulumi:index:Stash":
        return name, {**inputs, "output": inputs["input"]}
    if type_ not in _ARM_PATHS:
        return name, inputs
    own = azure_name(type_, inputs) or name
    path = f"/subscriptions/{subscription}/resourceGroups/{inputs.get('resourceGroupName', 'rg')}"
    provider = _ARM_PATHS[type_][0]
    computed: dict[str, Any] = {"name": own}
    if type_.endswith(":UserAssignedIdentity"):
        computed |= {"principalId": guid("principal", own), "clientId": guid("client", own), "tenantId": guid("tenant")}
    if type_.endswith(":PublicIPAddress"):
        computed |= {"ipAddress": nat_address(own)}
    if type_.endswith(":Grafana"):
        used: dict[str, dict[str, Any]] = {each: {} for each in inputs["identity"]["userAssignedIdentities"]}
        computed |= {"identity": {**inputs["identity"], "userAssignedIdentities": used}}
    if type_.endswith(":ManagedCluster"):
        issuer = f"https://{inputs['location']}.oic.prod-aks.azure.com/{guid('tenant')}/{guid('issuer', own)}/"
        given = inputs["identity"].get("userAssignedIdentities", ())
        identities: dict[str, dict[str, Any]] = {each: {} for each in given}
        computed |= {
            "oidcIssuerProfile": {"enabled": True, "issuerURL": issuer},
            # The inputs have a list of identities, the outputs a map.
            "identity": {**inputs["identity"], "userAssignedIdentities": identities},
        }
    computed |= data_answers.computed(type_, own, inputs)
    if type_.endswith(":RoleAssignment"):
        computed |= {"roleDefinitionId": inputs["roleDefinitionId"], "scope": inputs["scope"]}
    return f"{path}/providers/{provider}/{own}" if provider else path, {**inputs, **computed}
