"""Mocked responses of Azure about data services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_POSTGRES = "Microsoft.DBforPostgreSQL/flexibleServers"
_STORAGE = "Microsoft.Storage/storageAccounts"
_REDIS, _VAULT, _REGISTRY = (
    "Microsoft.Cache/redisEnterprise",
    "Microsoft.KeyVault/vaults",
    "Microsoft.ContainerRegistry",
)

PATHS: Mapping[str, tuple[str, str]] = {
    "azure-native:dbforpostgresql:Server": (_POSTGRES, "serverName"),
    "azure-native:dbforpostgresql:Database": (f"{_POSTGRES}/s/databases", "databaseName"),
    "azure-native:dbforpostgresql:Configuration": (f"{_POSTGRES}/s/configurations", "configurationName"),
    "azure-native:dbforpostgresql:FirewallRule": (f"{_POSTGRES}/s/firewallRules", "firewallRuleName"),
    "azure-native:redisenterprise:RedisEnterprise": (_REDIS, "clusterName"),
    "azure-native:redisenterprise:Database": (f"{_REDIS}/r/databases", "databaseName"),
    "azure-native:storage:StorageAccount": (_STORAGE, "accountName"),
    "azure-native:storage:BlobServiceProperties": (f"{_STORAGE}/a/blobServices", "blobServicesName"),
    "azure-native:storage:BlobContainer": (f"{_STORAGE}/a/blobServices/default/containers", "containerName"),
    "azure-native:storage:ManagementPolicy": (f"{_STORAGE}/a/managementPolicies", "managementPolicyName"),
    "azure-native:keyvault:Vault": (_VAULT, "vaultName"),
    "azure-native:keyvault:Secret": (f"{_VAULT}/v/secrets", "secretName"),
    "azure-native:containerregistry:Registry": (f"{_REGISTRY}/registries", "registryName"),
    "azure-native:containerregistry:CacheRule": (f"{_REGISTRY}/registries/r/cacheRules", "cacheRuleName"),
}
"""ARM path within a resource group, and the input that has the resource's name, by Pulumi type."""


def computed(type_: str, own: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs that Azure computes for a data service with the name `own`, such as its host name."""
    match type_.rpartition(":")[2]:
        case "Server":
            return {"fullyQualifiedDomainName": f"{own}.postgres.database.azure.com"}
        case "RedisEnterprise":
            return {"hostName": f"{own}.{inputs['location']}.redis.azure.net"}
        case "StorageAccount":
            return {"primaryEndpoints": {"blob": f"https://{own}.blob.core.windows.net/"}}
        case "Vault":
            return {"properties": {**inputs["properties"], "vaultUri": f"https://{own}.vault.azure.net/"}}
        case "Registry":
            return {"loginServer": f"{own}.azurecr.io"}
        case _:
            return {}
