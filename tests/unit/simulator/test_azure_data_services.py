"""What the simulated Azure refuses of databases, caches, storage and registries, and what it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from physical_ai.catalog.postgres import postgres_sizes, postgres_versions
from physical_ai.settings.models.data_services import PostgresVersion
from simulator.azure import AzureNative
from simulator.azure.errors import ArmError
from simulator.azure.own_facts import POSTGRES_SIZES, POSTGRES_VERSIONS
from tests.support.azure_fakes import GROUP, PLACE, Azure

PASSWORD = "Correct1Horse2Battery"
SERVER: dict[str, Any] = {
    "serverName": "psql-1",
    "location": PLACE,
    "version": "16",
    "sku": {"name": "Standard_D2ds_v4", "tier": "GeneralPurpose"},
    "storage": {"storageSizeGB": 128},
    "backup": {"backupRetentionDays": 7, "geoRedundantBackup": "Disabled"},
    "highAvailability": {"mode": "Disabled"},
    "network": {"publicNetworkAccess": "Enabled"},
    "administratorLogin": "osmoadmin",
    "administratorLoginPassword": PASSWORD,
}
CACHE: dict[str, Any] = {
    "clusterName": "redis-1",
    "location": PLACE,
    "sku": {"name": "Balanced_B5"},
    "publicNetworkAccess": "Enabled",
}
REDIS: dict[str, Any] = {
    "clusterName": "redis-1",
    "databaseName": "default",
    "clusteringPolicy": "EnterpriseCluster",
    "accessKeysAuthentication": "Enabled",
    "port": 10000,
}
ACCOUNT: dict[str, Any] = {
    "accountName": "stdev1",
    "location": PLACE,
    "kind": "StorageV2",
    "sku": {"name": "Standard_LRS"},
    "allowBlobPublicAccess": False,
}
REGISTRY: dict[str, Any] = {"registryName": "crdev1", "location": PLACE, "sku": {"name": "Standard"}}
RULE: dict[str, Any] = {
    "registryName": "crdev1",
    "cacheRuleName": "nvcr-io",
    "sourceRepository": "nvcr.io/*",
    "targetRepository": "nvcr.io/*",
}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    found = Azure(tmp_path / "azure.json")
    found.group()
    return found


def broken(azure: Azure, kind: str, inputs: dict[str, Any]) -> set[str]:
    return azure.rules(kind, {"resourceGroupName": GROUP, **inputs})


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"serverName": "Psql"}, "pg-name"),
        ({"administratorLogin": "root"}, "pg-admin"),
        ({"administratorLoginPassword": "alllowercase"}, "pg-password"),
        ({"administratorLoginPassword": None}, "pg-password"),
        ({"authConfig": {"passwordAuth": "Disabled"}}, "pg-auth"),
        ({"sku": {"name": "Standard_B2s", "tier": "GeneralPurpose"}}, "pg-sku-tier"),
        ({"storage": {"storageSizeGB": 100}}, "pg-storage-sizes"),
        ({"backup": {"backupRetentionDays": 60}}, "pg-backup"),
    ],
)
def test_a_server_that_cannot_be(azure: Azure, changes: dict[str, Any], rule: str) -> None:
    assert broken(azure, "PostgresServer", SERVER) == set()
    assert broken(azure, "PostgresServer", {**SERVER, **changes}) == {rule}


def test_a_standby_needs_a_size_and_a_region_that_have_one(tmp_path: Path) -> None:
    burstable = {"name": "Standard_B2s", "tier": "Burstable"}
    standby = {**SERVER, "highAvailability": {"mode": "ZoneRedundant"}}
    north, west = Azure(tmp_path / "a.json", place="swedencentral"), Azure(tmp_path / "b.json", place="westus")
    for each in (north, west):
        each.group()
    there = {**standby, "location": "swedencentral"}
    assert broken(north, "PostgresServer", there) == set()
    assert broken(north, "PostgresServer", {**there, "sku": burstable}) == {"pg-ha-burstable"}
    assert broken(west, "PostgresServer", {**standby, "location": "westus"}) == {"pg-ha-region"}
    assert broken(west, "StorageAccount", {**ACCOUNT, "location": "westus", "sku": {"name": "Standard_ZRS"}}) == {
        "st-zones"
    }


@pytest.mark.parametrize(
    ("place", "changes", "rule"),
    [
        ("westeurope", {"highAvailability": {"mode": "ZoneRedundant"}}, "pg-ha-region"),
        ("West US 2", {"highAvailability": {"mode": "ZoneRedundant"}}, "pg-ha-region"),
        ("westeurope", {"highAvailability": {"mode": "SameZone"}}, None),
        ("westeurope", {"sku": {"name": "Standard_D2ds_v5", "tier": "GeneralPurpose"}}, None),
        ("southeastasia", {"sku": {"name": "Standard_D2ds_v5", "tier": "GeneralPurpose"}}, "pg-size-region"),
        ("southeastasia", {"sku": {"name": "Standard_B2s", "tier": "Burstable"}}, None),
    ],
)
def test_a_region_has_a_matrix_and_no_single_answer(
    tmp_path: Path, place: str, changes: dict[str, Any], rule: str | None
) -> None:
    azure = Azure(tmp_path / "azure.json", place=place.replace(" ", "").lower())
    azure.group()
    server = {**SERVER, **changes, "location": place}
    assert broken(azure, "PostgresServer", server) == ({rule} if rule else set())


ZONES: dict[str, Any] = {**SERVER, "location": "swedencentral", "availabilityZone": "1"}


@pytest.mark.parametrize(
    ("size", "tier", "rule"),
    [
        ("Standard_D3ds_v4", "GeneralPurpose", "pg-size-unknown"),
        ("Standard_D20ds_v4", "GeneralPurpose", "pg-size-unknown"),
        ("Standard_D2s_v4", "GeneralPurpose", "pg-size-unknown"),
        ("Standard_B2", "Burstable", "pg-size-unknown"),
        ("Standard_E20ds_v4", "MemoryOptimized", None),
        ("Standard_D64ds_v4", "GeneralPurpose", None),
    ],
)
def test_the_service_has_sizes_of_its_own(azure: Azure, size: str, tier: str, rule: str | None) -> None:
    server = {**SERVER, "sku": {"name": size, "tier": tier}}
    assert broken(azure, "PostgresServer", server) == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("mode", "zone", "rule"),
    [
        ("ZoneRedundant", "1", "pg-standby-zone"),
        ("ZoneRedundant", "2", None),
        ("SameZone", "2", "pg-standby-zone"),
        ("SameZone", "1", None),
        ("SameZone", None, None),
    ],
)
def test_the_zone_of_a_standby_fits_its_mode(tmp_path: Path, mode: str, zone: str | None, rule: str | None) -> None:
    azure = Azure(tmp_path / "azure.json", place="swedencentral")
    azure.group()
    standby = {"mode": mode, **({"standbyAvailabilityZone": zone} if zone else {})}
    assert broken(azure, "PostgresServer", {**ZONES, "highAvailability": standby}) == ({rule} if rule else set())


@pytest.mark.parametrize(("place", "zone"), [("swedencentral", "4"), ("westus", "1")])
def test_a_server_is_in_a_zone_of_its_region(tmp_path: Path, place: str, zone: str) -> None:
    azure = Azure(tmp_path / "azure.json", place=place)
    azure.group()
    assert broken(azure, "PostgresServer", {**SERVER, "location": place, "availabilityZone": zone}) == {"zones-region"}
    assert broken(azure, "PostgresServer", {**SERVER, "location": place}) == set()


def test_the_sizes_of_the_catalogue_and_of_the_stand_in_agree_with_their_source() -> None:
    (listed,) = postgres_sizes()
    assert set(listed.names) == POSTGRES_SIZES


@pytest.mark.parametrize("version", ["11", "12", "13", "14", "15", "16", "17", "18"])
def test_new_servers_are_made_of_the_versions_that_the_service_offers(azure: Azure, version: str) -> None:
    refused = {"pg-version-offered"} if version in ("11", "12", "13") else set[str]()
    assert broken(azure, "PostgresServer", {**SERVER, "version": version}) == refused


def test_every_version_that_a_stack_may_have_is_offered() -> None:
    assert set(get_args(PostgresVersion)) == set(postgres_versions()) <= set(POSTGRES_VERSIONS)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"storage": {"storageSizeGB": 64}}, "pg-storage-shrink"),
        ({"version": "15"}, "pg-version-down"),
        ({"administratorLogin": "someoneelse"}, "pg-immutable"),
        ({"backup": {"backupRetentionDays": 7, "geoRedundantBackup": "Enabled"}}, "pg-geo-backup"),
        ({"storage": {"storageSizeGB": 256}}, None),
        ({"version": "17"}, None),
        ({"version": "18"}, None),
    ],
)
def test_what_a_server_may_become(azure: Azure, changes: dict[str, Any], rule: str | None) -> None:
    azure.put("PostgresServer", **SERVER)
    assert broken(azure, "PostgresServer", {**SERVER, **changes}) == ({rule} if rule else set())


def test_a_server_in_a_network_needs_a_delegated_subnet_and_a_zone(azure: Azure) -> None:
    network = {"delegatedSubnetResourceId": azure.subnet_id, "publicNetworkAccess": "Enabled"}
    found = broken(azure, "PostgresServer", {**SERVER, "network": network})
    assert found == {"pg-vnet", "pg-vnet-public", "subnet-pg-deleg"}


def test_parameters_and_extensions_that_the_service_knows(azure: Azure) -> None:
    azure.put("PostgresServer", **SERVER)

    def parameter(name: str, value: str) -> set[str]:
        given = {"serverName": "psql-1", "configurationName": name, "value": value, "source": "user-override"}
        return broken(azure, "PostgresConfiguration", given)

    assert parameter("azure.extensions", "HSTORE,UUID-OSSP,PG_STAT_STATEMENTS") == set()
    assert parameter("azure.extensions", "HSTORE,NO_SUCH") == {"pg-extensions"}
    assert parameter("require_secure_transport", "maybe") == {"pg-config-value"}
    assert parameter("no_such", "1") == {"pg-config-name"}


def test_databases_and_firewall_rules(azure: Azure) -> None:
    azure.put("PostgresServer", **SERVER)
    database = {"serverName": "psql-1", "databaseName": "osmo", "charset": "UTF8", "collation": "en_US.utf8"}
    azure.put("PostgresDatabase", **database)
    assert broken(azure, "PostgresDatabase", {**database, "charset": "LATIN1"}) == {"pg-db-immutable"}
    assert broken(azure, "PostgresDatabase", {**database, "databaseName": "postgres"}) == {"pg-db-reserved"}
    rule = {"serverName": "psql-1", "firewallRuleName": "nodes", "startIpAddress": "10.0.0.9"}
    assert broken(azure, "PostgresFirewallRule", {**rule, "endIpAddress": "10.0.0.9"}) == set()
    assert broken(azure, "PostgresFirewallRule", {**rule, "endIpAddress": "10.0.0.1"}) == {"pg-firewall-range"}


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [("PostgresServer", SERVER), ("StorageAccount", ACCOUNT), ("Registry", REGISTRY), ("RedisEnterprise", CACHE)],
)
def test_a_name_that_is_taken(tmp_path: Path, kind: str, inputs: dict[str, Any]) -> None:
    names = {
        "PostgresServer": ["psql-1"],
        "StorageAccount": ["stdev1"],
        "Registry": ["crdev1"],
        "RedisEnterprise": ["redis-1"],
    }
    azure = Azure(tmp_path / "azure.json", options={"taken": names})
    azure.group()
    (rule,) = broken(azure, kind, inputs)
    assert rule in {"pg-global", "st-global", "acr-global", "redis-default-name"}


def test_a_cache_of_osmo(azure: Azure) -> None:
    azure.put("RedisEnterprise", **CACHE)
    azure.put("RedisEnterpriseDatabase", **REDIS)
    changed = {**REDIS, "clusteringPolicy": "OSSCluster"}
    assert broken(azure, "RedisEnterpriseDatabase", changed) == {"redis-policy-immutable"}
    other = {**REDIS, "databaseName": "second"}
    assert broken(azure, "RedisEnterpriseDatabase", other) == {"redis-db-name", "redis-db-one"}
    assert broken(azure, "RedisEnterpriseDatabase", {**REDIS, "port": 6379}) == {
        "redis-port",
        "redis-protocol-immutable",
    }
    assert broken(azure, "RedisEnterprise", {**CACHE, "sku": {"name": "Balanced_B5", "capacity": 2}}) == {
        "redis-sku-capacity"
    }
    azure.put("RedisEnterprise", **CACHE, highAvailability="Enabled")
    assert broken(azure, "RedisEnterprise", {**CACHE, "highAvailability": "Disabled"}) == {"redis-ha-immutable"}


def test_keys_of_a_cache_are_given_while_they_are_enabled(azure: Azure) -> None:
    azure.put("RedisEnterprise", **CACHE)
    provider = AzureNative(azure.cloud)
    asked = {"resourceGroupName": GROUP, "clusterName": "redis-1", "databaseName": "default"}
    token = "azure-native:redisenterprise:listDatabaseKeys"
    azure.put("RedisEnterpriseDatabase", **REDIS)
    keys = provider.invoke(token, asked)
    assert keys["primaryKey"] != keys["secondaryKey"]
    azure.put("RedisEnterpriseDatabase", **{**REDIS, "accessKeysAuthentication": "Disabled"})
    with pytest.raises(ArmError, match="disabled"):
        provider.invoke(token, asked)


def test_storage(azure: Azure) -> None:
    azure.put("StorageAccount", **ACCOUNT)
    assert broken(azure, "StorageAccount", {**ACCOUNT, "isHnsEnabled": True}) == {"st-immutable"}
    container = {"accountName": "stdev1", "containerName": "data"}
    assert broken(azure, "BlobContainer", container) == set()
    assert broken(azure, "BlobContainer", {**container, "publicAccess": "Blob"}) == {"blob-public"}
    assert broken(azure, "BlobContainer", {**container, "containerName": "Da--ta"}) == {"blob-name"}
    service = {"accountName": "stdev1", "blobServicesName": "other"}
    assert broken(azure, "BlobServiceProperties", service) == {"blob-service-name"}


def test_settings_of_a_blob_service_go_without_the_containers(azure: Azure) -> None:
    azure.put("StorageAccount", **ACCOUNT)
    service = azure.put("BlobServiceProperties", accountName="stdev1", blobServicesName="default")
    container = azure.put("BlobContainer", accountName="stdev1", containerName="data")
    azure.cloud.delete(service.id)
    assert azure.cloud.exists(container.id)
    azure.cloud.delete(azure.id("Microsoft.Storage/storageAccounts/stdev1"))
    assert not azure.cloud.exists(container.id)


def test_lifecycle_rules(azure: Azure) -> None:
    azure.put("StorageAccount", **ACCOUNT)
    filters = {"blobTypes": ["blockBlob"], "prefixMatch": ["logs/"]}
    after = {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": 90}}}

    def rules(*rows: dict[str, Any]) -> set[str]:
        policy = {"accountName": "stdev1", "managementPolicyName": "default", "policy": {"rules": list(rows)}}
        return broken(azure, "ManagementPolicy", policy)

    row = {"name": "logs", "type": "Lifecycle", "definition": {"actions": after, "filters": filters}}
    assert rules(row) == set()
    assert rules(row, row) == {"mp-rules"}
    assert rules({**row, "definition": {"actions": {}, "filters": filters}}) == {"mp-rules"}
    assert rules({**row, "definition": {"actions": after, "filters": {**filters, "prefixMatch": ["/logs"]}}}) == {
        "mp-prefix"
    }


def test_registries_and_cache_rules(azure: Azure) -> None:
    assert broken(azure, "Registry", {**REGISTRY, "publicNetworkAccess": "Disabled"}) == {"acr-premium"}
    assert broken(azure, "Registry", {**REGISTRY, "zoneRedundancy": "Enabled"}) == {"acr-premium"}
    azure.put("Registry", **REGISTRY)
    azure.put("CacheRule", **RULE)
    assert broken(azure, "CacheRule", {**RULE, "cacheRuleName": "other"}) == {"acr-cache-overlap"}
    assert broken(azure, "CacheRule", {**RULE, "targetRepository": "nvidia"}) >= {"acr-cache-wildcard"}
    docker = {**RULE, "cacheRuleName": "docker", "sourceRepository": "docker.io/*", "targetRepository": "docker.io/*"}
    assert broken(azure, "CacheRule", docker) == {"acr-cache-login"}
    for host, taken in (("docker.elastic.co", False), ("europe-docker.pkg.dev", True), ("mcr.microsoft.com", True)):
        rule = {**RULE, "cacheRuleName": "other", "sourceRepository": f"{host}/*", "targetRepository": f"{host}/*"}
        assert broken(azure, "CacheRule", rule) == (set() if taken else {"acr-cache-upstream"})
    assert broken(azure, "CacheRule", {**RULE, "sourceRepository": "quay.io/*"}) == {"acr-cache-immutable"}


def test_the_password_of_a_server_is_not_in_the_file(azure: Azure) -> None:
    azure.put("PostgresServer", **SERVER)
    assert PASSWORD not in azure.path.read_text()


@pytest.mark.parametrize(
    ("kind", "redundancy", "rule"),
    [
        ("StorageV2", "Premium_ZRS", "st-kind-sku"),
        ("StorageV2", "Premium_LRS", None),
        ("StorageV2", "StandardV2_LRS", "st-kind-sku"),
        ("StorageV2", "Standard_RAGZRS", None),
        ("BlockBlobStorage", "Premium_ZRS", None),
        ("BlockBlobStorage", "Standard_LRS", "st-kind-sku"),
        ("FileStorage", "Standard_GRS", "st-kind-sku"),
        ("BlobStorage", "Standard_ZRS", "st-kind-sku"),
    ],
)
def test_a_kind_of_account_has_redundancies_of_its_own(
    azure: Azure, kind: str, redundancy: str, rule: str | None
) -> None:
    account = {**ACCOUNT, "kind": kind, "sku": {"name": redundancy}, "isHnsEnabled": False}
    account.pop("accessTier", None)
    assert broken(azure, "StorageAccount", account) == ({rule} if rule else set())


def test_only_block_blobs_have_the_premium_tier(azure: Azure) -> None:
    assert broken(azure, "StorageAccount", {**ACCOUNT, "accessTier": "Premium"}) == {"st-tier-premium"}


@pytest.mark.parametrize(("version", "rule"), [("1.0", "redis-tls"), ("1.1", "redis-tls"), ("1.2", None)])
def test_a_cache_takes_no_retired_version_of_tls(azure: Azure, version: str, rule: str | None) -> None:
    assert broken(azure, "RedisEnterprise", {**CACHE, "minimumTlsVersion": version}) == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("login", "rule"),
    [
        ("Azure_SuperUser", "pg-admin"),
        ("replication", "pg-admin"),
        ("pg_osmo", "pg-admin"),
        ("osmo-admin", "pg-admin-form"),
        ("1osmo", "pg-admin-form"),
        ("osmo admin", "pg-admin-form"),
        ("o" * 64, "pg-admin-form"),
        ("osmo_admin", None),
    ],
)
def test_logins_that_a_server_has_itself_or_cannot_have(azure: Azure, login: str, rule: str | None) -> None:
    assert broken(azure, "PostgresServer", {**SERVER, "administratorLogin": login}) == ({rule} if rule else set())
