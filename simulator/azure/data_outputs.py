"""Outputs that Azure computes for data services: addresses, defaults, keys."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable, Mapping

from simulator.azure import ids
from simulator.azure.bodies import Json, get
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.guids import guid
from simulator.azure.offers import location
from simulator.azure.registry import models
from simulator.azure.state import SUCCEEDED, AzureState, Resource


def _server(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "fullyQualifiedDomainName": f"{ids.name(resource.id)}.postgres.database.azure.com",
        "state": "Ready",
        "minorVersion": "0",
        "replicaCapacity": 5,
        "availabilityZone": outputs.get("availabilityZone", "1"),
        "privateEndpointConnections": [],
    }


def _parameter(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"isConfigPendingRestart": False, "isReadOnly": False, "isDynamicConfig": True}


def _redis(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    place = location(str(outputs.get("location", "")))
    return {
        "hostName": f"{ids.name(resource.id)}.{place}.redis.azure.net",
        "kind": "v2",
        "resourceState": "Running",
        "redisVersion": "7.4",
        "privateEndpointConnections": [],
        "highAvailability": outputs.get("highAvailability", "Enabled"),
    }


def _redis_database(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"resourceState": "Running", "redisVersion": "7.4", "port": outputs.get("port", 10000)}


def _account(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    name, services = ids.name(resource.id), ("blob", "dfs", "file", "queue", "table", "web")
    return {
        "primaryEndpoints": {each: f"https://{name}.{each}.core.windows.net/" for each in services},
        "primaryLocation": location(str(outputs.get("location", ""))),
        "statusOfPrimary": "available",
        "privateEndpointConnections": [],
    }


def _container(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"hasImmutabilityPolicy": False, "hasLegalHold": False, "leaseState": "Available", "deleted": False}


def _vault(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    address = f"https://{ids.name(resource.id).lower()}.vault.azure.net/"
    defaults = {"enableSoftDelete": True, "softDeleteRetentionInDays": 90, "accessPolicies": list[Json]()}
    given: Json = outputs.get("properties", {})
    return {"properties": {**defaults, **given, "vaultUri": address, "provisioningState": SUCCEEDED}}


def _secret(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    vault, name = ids.name(ids.parent(resource.id)).lower(), ids.name(resource.id)
    address = f"https://{vault}.vault.azure.net/secrets/{name}"
    version = guid(resource, "version").replace("-", "")
    given: Json = outputs.get("properties", {})
    return {"properties": {**given, "secretUri": address, "secretUriWithVersion": f"{address}/{version}"}}


def _registry(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "loginServer": f"{ids.name(resource.id).lower()}.azurecr.io",
        "privateEndpointConnections": [],
        "zoneRedundancy": outputs.get("zoneRedundancy", "Disabled"),
        "publicNetworkAccess": outputs.get("publicNetworkAccess", "Enabled"),
    }


@models("redis-keys-off")
def access_keys(database: Resource | None) -> Json:
    """The access keys of a Redis cache, as listKeys returns them. Raises `ArmError` if the database does not exist or
    its access keys are turned off.
    """
    if database is None:
        raise ArmError(Refusal("arm-delete-missing", 404, "ResourceNotFound", "The database was not found."))
    if get(database.body, "properties.accessKeysAuthentication") == "Disabled":
        raise ArmError(Refusal("redis-keys-off", 400, "BadRequest", "Access keys authentication is disabled."))

    def key(kind: str) -> str:
        """An access key: 32 bytes in base64.

        Every generated key contains `+`, `/` and `=`, so that a program that does not escape these characters fails in
        the simulator.
        """
        seeds = (f"{guid(database, kind)}{number or ''}" for number in itertools.count())
        texts = (base64.b64encode(hashlib.sha256(seed.encode()).digest()).decode() for seed in seeds)
        return next(text for text in texts if "+" in text and "/" in text)

    return {"primaryKey": key("primary"), "secondaryKey": key("secondary")}


COMPUTERS: Mapping[str, Callable[[Resource, Json, AzureState], Json]] = {
    "PostgresServer": _server,
    "PostgresConfiguration": _parameter,
    "RedisEnterprise": _redis,
    "RedisEnterpriseDatabase": _redis_database,
    "StorageAccount": _account,
    "BlobContainer": _container,
    "Vault": _vault,
    "VaultSecret": _secret,
    "Registry": _registry,
}
