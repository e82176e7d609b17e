"""Needs of a deployment in Azure: permitted actions, and registered resource providers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from physical_ai.subscription.answers import Permission

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "azure-native:resources:ResourceGroup": ("Microsoft.Resources/subscriptions/resourceGroups/write",),
    "azure-native:network:VirtualNetwork": ("Microsoft.Network/virtualNetworks/write",),
    "azure-native:network:Subnet": (
        "Microsoft.Network/virtualNetworks/subnets/write",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
    ),
    "azure-native:network:NetworkSecurityGroup": ("Microsoft.Network/networkSecurityGroups/write",),
    "azure-native:network:SecurityRule": ("Microsoft.Network/networkSecurityGroups/securityRules/write",),
    "azure-native:network:NatGateway": ("Microsoft.Network/natGateways/write",),
    "azure-native:network:PublicIPAddress": ("Microsoft.Network/publicIPAddresses/write",),
    "azure-native:managedidentity:UserAssignedIdentity": (
        "Microsoft.ManagedIdentity/userAssignedIdentities/write",
        "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    ),
    "azure-native:managedidentity:FederatedIdentityCredential": (
        "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
    ),
    "azure-native:authorization:RoleAssignment": ("Microsoft.Authorization/roleAssignments/write",),
    "azure-native:containerservice:ManagedCluster": (
        "Microsoft.ContainerService/managedClusters/write",
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    ),
    "azure-native:containerservice:AgentPool": ("Microsoft.ContainerService/managedClusters/agentPools/write",),
    "azure-native:containerservice:MaintenanceConfiguration": (
        "Microsoft.ContainerService/managedClusters/maintenanceConfigurations/write",
    ),
    "azure-native:operationalinsights:Workspace": ("Microsoft.OperationalInsights/workspaces/write",),
    "azure-native:monitor:DiagnosticSetting": ("Microsoft.Insights/diagnosticSettings/write",),
}
"""Azure actions that a deployment needs to create resources, by resource type. Only types that every stack can have."""

METRICS_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "azure-native:monitor:AzureMonitorWorkspace": ("Microsoft.Monitor/accounts/write",),
    "azure-native:monitor:DataCollectionEndpoint": ("Microsoft.Insights/dataCollectionEndpoints/write",),
    "azure-native:monitor:DataCollectionRule": ("Microsoft.Insights/dataCollectionRules/write",),
    "azure-native:monitor:DataCollectionRuleAssociation": ("Microsoft.Insights/dataCollectionRuleAssociations/write",),
    "azure-native:monitor:ActionGroup": ("Microsoft.Insights/actionGroups/write",),
    "azure-native:alertsmanagement:PrometheusRuleGroup": ("Microsoft.AlertsManagement/prometheusRuleGroups/write",),
    "azure-native:dashboard:Grafana": ("Microsoft.Dashboard/grafana/write",),
}
"""Further actions, by resource type, for a stack with `monitoring.metrics: azure`."""

_POSTGRES, _REDIS = "Microsoft.DBforPostgreSQL/flexibleServers", "Microsoft.Cache/redisEnterprise"
_STORAGE, _VAULT = "Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults"
_REGISTRY = "Microsoft.ContainerRegistry/registries"
DATA_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "azure-native:dbforpostgresql:Server": (f"{_POSTGRES}/write",),
    "azure-native:dbforpostgresql:Database": (f"{_POSTGRES}/databases/write",),
    "azure-native:dbforpostgresql:Configuration": (f"{_POSTGRES}/configurations/write",),
    "azure-native:dbforpostgresql:FirewallRule": (f"{_POSTGRES}/firewallRules/write",),
    "azure-native:redisenterprise:RedisEnterprise": (f"{_REDIS}/write",),
    "azure-native:redisenterprise:Database": (f"{_REDIS}/databases/write", f"{_REDIS}/databases/listKeys/action"),
    "azure-native:storage:StorageAccount": (f"{_STORAGE}/write",),
    "azure-native:storage:BlobServiceProperties": (f"{_STORAGE}/blobServices/write",),
    "azure-native:storage:BlobContainer": (f"{_STORAGE}/blobServices/containers/write",),
    "azure-native:storage:ManagementPolicy": (f"{_STORAGE}/managementPolicies/write",),
    "azure-native:keyvault:Vault": (f"{_VAULT}/write",),
    "azure-native:keyvault:Secret": (f"{_VAULT}/secrets/write",),
    "azure-native:containerregistry:Registry": (f"{_REGISTRY}/write",),
    "azure-native:containerregistry:CacheRule": (f"{_REGISTRY}/cacheRules/write",),
}
"""Further actions, by resource type, for a stack with `dataServices`."""

_RESERVATIONS = "Microsoft.Compute/capacityReservationGroups"
RESERVATION_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "azure-native:compute:CapacityReservationGroup": (f"{_RESERVATIONS}/write",),
    "azure-native:compute:CapacityReservation": (f"{_RESERVATIONS}/capacityReservations/write",),
}
"""Further actions, by resource type, for a stack that reserves machines."""

PREVIEW_ACTIONS = (f"{_REDIS}/databases/listKeys/action",)
"""Actions that a preview needs beyond the role Reader. azure-native has no resource with the keys of a cache, so each
preview of a stack with `dataServices` asks Azure for them.
"""

ALWAYS_REGISTERED = frozenset({"Microsoft.Authorization", "Microsoft.Resources"})
COMPUTE = "Microsoft.Compute"
"""Resource provider that must be registered although the program declares no resource of it: AKS creates the nodes'
VMs.
"""


def actions(
    *, metrics: bool = False, data: bool = False, private: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    """Every action that a deployment performs.

    Args:
        metrics: True for a stack with Azure Monitor's managed Prometheus.
        data: True for a stack with data services.
        private: Actions for private networks, by resource type.
    """
    needed = {**ACTIONS, **(private or {}), **(METRICS_ACTIONS if metrics else {}), **(DATA_ACTIONS if data else {})}
    return [action for each in needed.values() for action in each]


def namespaces(
    *, metrics: bool = False, data: bool = False, private: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    """Resource providers that must be registered. The arguments are those of `actions`."""
    every = actions(metrics=metrics, data=data, private=private)
    named = {action.partition("/")[0] for action in every} - ALWAYS_REGISTERED
    return sorted({*named, COMPUTE})


def denied(wanted: Iterable[str], permissions: Sequence[Permission]) -> list[str]:
    """The wanted actions that no permission allows. An action that one permission denies may be allowed by
    another.
    """
    return [each for each in wanted if not any(_allows(permission, each) for permission in permissions)]


def _allows(permission: Permission, action: str) -> bool:
    allowed = any(_fits(pattern, action) for pattern in permission.allowed)
    return allowed and not any(_fits(pattern, action) for pattern in permission.denied)


def _fits(pattern: str, action: str) -> bool:
    """True if an action pattern covers an action; `*` stands for any text, and case is ignored."""
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, action, re.IGNORECASE) is not None
