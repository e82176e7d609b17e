"""Rules on key vaults and on the secrets that are written to them through ARM."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse

NAME = re.compile(r"^[a-zA-Z](-?[a-zA-Z0-9])*$")
DELETE_SECRET = "Microsoft.KeyVault/vaults/secrets/delete"  # noqa: S105 - an action


@on_put("Vault", "kv-name", "kv-softdeleted", "kv-recover", "kv-recover-none")
def name(put: Put) -> Iterator[Refusal]:
    """Refusals of a vault's name. A deleted vault keeps its name until it is purged or its retention ends."""
    own = ids.name(put.id)
    if not NAME.match(own) or not 3 <= len(own) <= 24:
        message = f"'{own}' must have 3 to 24 letters, digits and single hyphens, and begin with a letter."
        yield refuse(put, "kv-name", message, "name")
    deleted = own.lower() in put.azure.deleted_vaults
    recovers = put.properties.get("createMode") == "recover"
    if put.old is None and deleted and not recovers:
        message = (
            f"A vault with the same name already exists in deleted state. You need to either recover or purge"
            f" existing key vault '{own}'."
        )
        yield refuse(put, "kv-softdeleted", message, "name")
    if put.old is None and recovers and not deleted:
        yield refuse(put, "kv-recover-none", f"There is no deleted vault '{own}' to recover.", "name")


@on_put("Vault", "kv-purgeprot", "kv-softdelete-off", "kv-retention")
def protection(put: Put) -> Iterator[Refusal]:
    before = put.old.body if put.old else {}
    here = "properties.enablePurgeProtection"
    wanted = put.properties.get("enablePurgeProtection")
    if wanted is False or (get(before, here) is True and wanted is not True):
        message = "The property 'enablePurgeProtection' cannot be set to false, and cannot be turned off."
        yield refuse(put, "kv-purgeprot", message, here)
    if put.properties.get("enableSoftDelete") is False:
        message = "Soft delete cannot be turned off."
        yield refuse(put, "kv-softdelete-off", message, "properties.enableSoftDelete")
    days = put.properties.get("softDeleteRetentionInDays")
    if days is not None and not 7 <= days <= 90:
        message = f"softDeleteRetentionInDays {days} is outside 7..90."
        yield refuse(put, "kv-retention", message, "properties.softDeleteRetentionInDays")


@on_put("Vault", "kv-policy-unique", "kv-tenant")
def access(put: Put) -> Iterator[Refusal]:
    policies = items(put.properties, "accessPolicies")
    owners = Counter((str(each.get("objectId")), str(each.get("applicationId"))) for each in policies)
    if any(times > 1 for times in owners.values()):
        yield refuse(put, "kv-policy-unique", "Two access policies have one object id.", "properties.accessPolicies")
    tenant = str(put.properties.get("tenantId", ""))
    if tenant.lower() != put.azure.directory.tenant.lower():
        message = f"The tenant '{tenant}' is not the one of the subscription."
        yield refuse(put, "kv-tenant", message, "properties.tenantId")


@on_delete("VaultSecret", "kv-secret-data-plane")
def secret_delete(request: Delete) -> Iterator[Refusal]:
    """Refusals to delete a secret: azure-native deletes it through the vault, where the subscription's owner has no
    right by default.
    """
    vault = request.azure.get(ids.parent(request.id), "Vault")
    if vault is None:
        return
    if get(vault.body, "properties.publicNetworkAccess") == "Disabled":
        message = "Public network access is disabled and request is not from a trusted service nor via an approved"
        yield refuse(request, "kv-secret-data-plane", f"{message} private link.")
    elif not request.azure.allowed(request.azure.directory.deployer, DELETE_SECRET, vault.id):
        message = f"Caller is not authorized to perform action on resource: '{DELETE_SECRET}/action'."
        yield refuse(request, "kv-secret-data-plane", message)
