"""Deleted key vaults. Azure keeps them, and reserves their names, until they are purged or their retention ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simulator.azure import ids
from simulator.azure.bodies import Json, get
from simulator.azure.data import rules
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.registry import models
from simulator.azure.rules.base import Put
from simulator.azure.state import Resource
from simulator.azure.store import Store

DAY = 86400
DEFAULT_DAYS = 90


def kept(vaults: Mapping[str, Json], now: float) -> dict[str, Json]:
    """Deleted vaults whose retention has not ended, by lower-case name."""
    return {name: row for name, row in vaults.items() if row["until"] > now}


def remember(resource: Resource, store: Store, now: float) -> None:
    """Records a key vault that is being deleted; ignores resources of other kinds."""
    if resource.kind == "Vault":
        days = get(resource.body, "properties.softDeleteRetentionInDays") or DEFAULT_DAYS
        store.deleted_vaults[ids.name(resource.id).lower()] = {
            "inputs": resource.inputs,
            "until": now + days * DAY,
            "purgeProtection": get(resource.body, "properties.enablePurgeProtection") is True,
        }


@models("kv-recover")
def claim(put: Put, store: Store) -> Put:
    """The PUT with the inputs that Azure really applies: a PUT that recovers a deleted vault restores the vault's old
    inputs, and its own inputs are ignored.
    """
    if put.kind != "Vault" or put.old is not None:
        return put
    found = store.deleted_vaults.pop(ids.name(put.id).lower(), None)
    recovers = get(put.inputs, "properties.createMode") == "recover"
    return replace(put, inputs=found["inputs"]) if found is not None and recovers else put


@models("kv-purge-protected")
def purge(name: str, store: Store, now: float) -> None:
    """Deletes a deleted vault for good. Raises `ArmError`."""
    found = kept(store.deleted_vaults, now).get(name.lower())
    if found is None:
        raise ArmError(Refusal("arm-delete-missing", 404, "DeletedVaultNotFound", f"No deleted vault '{name}'."))
    if found["purgeProtection"]:
        rule = rules()["kv-purge-protected"]
        message = f"Operation 'DeletedVaultPurge' is not allowed: the vault '{name}' has purge protection."
        raise ArmError(Refusal(rule.id, rule.status, rule.codes[0], message))
    del store.deleted_vaults[name.lower()]
