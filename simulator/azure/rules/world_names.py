"""Rules on names that become part of a DNS name: they must be unique worldwide, or within the region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.azure import ids
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.rules.base import Put, on_put, refuse

UNIQUE: Mapping[str, str] = {
    "PostgresServer": "pg-global",
    "RedisEnterprise": "redis-default-name",
    "StorageAccount": "st-global",
    "Vault": "kv-global",
    "Registry": "acr-global",
}
"""Id of the rule that requires a unique name, by type of resource."""


@on_put(tuple(UNIQUE), *UNIQUE.values())
def unique(put: Put) -> Iterator[Refusal]:
    """Refusals of a name that another subscription (`Cloud(taken=…)`) or another resource already has."""
    if put.old is not None:
        return
    name, place = ids.name(put.id).lower(), location(str(put.body.get("location", "")))
    elsewhere = name in put.azure.taken.get(put.kind, ())
    here = any(
        ids.name(each.id).lower() == name and (put.kind != "RedisEnterprise" or each.location == place)
        for each in put.azure.of_kind(put.kind)
    )
    if elsewhere or here:
        message = f"The name '{name}' is already in use. Choose another one."
        yield refuse(put, UNIQUE[put.kind], message, "name")
