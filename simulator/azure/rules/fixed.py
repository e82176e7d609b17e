"""Rules on properties of data services that are fixed when the resource is created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.azure import ids
from simulator.azure.bodies import get
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

FIXED: Mapping[str, Mapping[str, str]] = {
    "PostgresServer": {
        "properties.administratorLogin": "pg-immutable",
        "properties.network.delegatedSubnetResourceId": "pg-immutable",
        "properties.dataEncryption.type": "pg-immutable",
        "properties.backup.geoRedundantBackup": "pg-geo-backup",
    },
    "PostgresDatabase": {"properties.charset": "pg-db-immutable", "properties.collation": "pg-db-immutable"},
    "RedisEnterprise": {"zones": "redis-zones-immutable"},
    "RedisEnterpriseDatabase": {
        "properties.clusteringPolicy": "redis-policy-immutable",
        "properties.modules": "redis-modules-immutable",
        "properties.port": "redis-protocol-immutable",
    },
    "StorageAccount": {
        "properties.isHnsEnabled": "st-immutable",
        "properties.dnsEndpointType": "st-immutable",
        "properties.immutableStorageWithVersioning": "st-immutable",
    },
    "Vault": {"properties.softDeleteRetentionInDays": "kv-retention"},
    "Registry": {"properties.zoneRedundancy": "acr-zone-immutable"},
    "CacheRule": {
        "properties.sourceRepository": "acr-cache-immutable",
        "properties.targetRepository": "acr-cache-immutable",
    },
}
"""Properties that cannot change after creation: resource type → property path → id of the rule."""
DEFAULTS: Mapping[str, object] = {
    "properties.backup.geoRedundantBackup": "Disabled",
    "properties.clusteringPolicy": "OSSCluster",
    "properties.port": 10000,
    "properties.softDeleteRetentionInDays": 90,
    "properties.zoneRedundancy": "Disabled",
    "properties.dnsEndpointType": "Standard",
    "properties.isHnsEnabled": False,
}
"""Values that the service uses if a request sets none."""


@on_put(tuple(FIXED), *sorted({rule for rules in FIXED.values() for rule in rules.values()} - {"kv-retention"}))
def fixed(put: Put) -> Iterator[Refusal]:
    """Refusals of changes to properties that are fixed at creation.

    Missing values count as their defaults; ids are compared without case.
    """
    if put.old is None:
        return
    for path, rule in FIXED[put.kind].items():
        default = DEFAULTS.get(path)
        before, after = get(put.old.body, path, default), get(put.body, path, default)
        if before != after and not ids.same(before, after):
            yield refuse(put, rule, f"The property '{path}' cannot be changed after creation.", path)
