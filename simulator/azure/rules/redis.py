"""Rules on Azure Managed Redis."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.registry import models
from simulator.azure.rules.base import Put, on_put, refuse

RETIRED_TLS = ("1.0", "1.1")
PORTS = range(10000, 11000)


@on_put("RedisEnterprise", "redis-sku-offered", "redis-sku-capacity", "redis-tls", "redis-ha-immutable")
def cluster(put: Put) -> Iterator[Refusal]:
    size = str(get(put.body, "sku.name") or "")
    if put.old is None and size in put.azure.restrictions.absent:
        message = f"Allocation failed. The size {size} is not available for this subscription in this region."
        yield refuse(put, "redis-sku-offered", message, "sku.name")
    if get(put.body, "sku.capacity") is not None and not size.startswith("Enterprise"):
        message = f"{size} takes no capacity: only the sizes Enterprise and EnterpriseFlash have one."
        yield refuse(put, "redis-sku-capacity", message, "sku.capacity")
    oldest = put.properties.get("minimumTlsVersion")
    if oldest in RETIRED_TLS:
        message = f"TLS {oldest} is not supported: the oldest version is 1.2."
        yield refuse(put, "redis-tls", message, "properties.minimumTlsVersion")
    before = get(put.old.body, "properties.highAvailability") if put.old else None
    if before == "Enabled" and put.properties.get("highAvailability") == "Disabled":
        message = "High availability cannot be turned off."
        yield refuse(put, "redis-ha-immutable", message, "properties.highAvailability")


@on_put("RedisEnterpriseDatabase", "redis-db-name", "redis-db-one", "redis-port")
def database(put: Put) -> Iterator[Refusal]:
    if ids.name(put.id) != "default":
        yield refuse(put, "redis-db-name", "A database must be named 'default'.", "name")
    others = [each for each in put.azure.children(ids.parent(put.id), put.kind) if not ids.same(each.id, put.id)]
    if others:
        yield refuse(put, "redis-db-one", "A cluster has one database.")
    port = put.properties.get("port")
    if port is not None and port not in PORTS:
        yield refuse(put, "redis-port", f"The port {port} is not available.", "properties.port")


@on_put("RedisEnterpriseDatabase", "redis-persist", "redis-search-evict")
def contents(put: Put) -> Iterator[Refusal]:
    if get(put.properties, "persistence.aofEnabled") and get(put.properties, "persistence.rdbEnabled"):
        message = "AOF and RDB persistence exclude each other."
        yield refuse(put, "redis-persist", message, "properties.persistence")
    modules = [each.get("name") for each in items(put.properties, "modules")]
    if "RediSearch" in modules and put.properties.get("evictionPolicy") != "NoEviction":
        message = "The module RediSearch needs the eviction policy NoEviction."
        yield refuse(put, "redis-search-evict", message, "properties.evictionPolicy")


@models("redis-delete-order")
def _goes_with_its_cluster() -> None:
    """Marks the rule `redis-delete-order` as implemented. The rule needs no code here: `puts.remove_tree` deletes a
    cluster's database with the cluster.
    """
