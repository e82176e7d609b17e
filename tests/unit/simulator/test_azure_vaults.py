"""What the simulated Azure refuses of vaults: names of deleted ones, protection that ends, secrets that are deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure.arm import ArmEndpoint
from simulator.azure.deleted_vaults import DAY
from simulator.azure.errors import ArmError
from tests.support.azure_fakes import PLACE, Azure
from tests.unit.simulator.test_azure_data_services import PASSWORD, broken


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    found = Azure(tmp_path / "azure.json")
    found.group()
    return found


def vault(azure: Azure, name: str = "kv-dev-1", **properties: Any) -> dict[str, Any]:
    given = {
        "tenantId": azure.cloud.directory.tenant,
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
        "softDeleteRetentionInDays": 7,
    }
    return {"vaultName": name, "location": PLACE, "properties": {**given, **properties}}


def test_a_deleted_vault_blocks_its_name_until_it_is_purged_or_its_days_are_over(azure: Azure) -> None:
    made = azure.put("Vault", **vault(azure))
    azure.cloud.delete(made.id)
    assert broken(azure, "Vault", vault(azure)) == {"kv-softdeleted"}
    azure.reopen()
    assert broken(azure, "Vault", vault(azure)) == {"kv-softdeleted"}, "another process has forgotten it"
    assert broken(azure, "Vault", vault(azure, "kv-dev-2")) == set()
    azure.clock.advance(7 * DAY + 1)
    assert broken(azure, "Vault", vault(azure)) == set()


def test_a_deleted_vault_is_purged_by_its_owner_unless_it_is_protected(azure: Azure, tmp_path: Path) -> None:
    def purge(name: str) -> int:
        path = f"/subscriptions/{azure.cloud.directory.subscription}/providers/Microsoft.KeyVault/locations/{PLACE}"
        endpoint = ArmEndpoint(azure.cloud, azure.cloud.directory.deployer, tmp_path / "reports.json")
        return endpoint("POST", f"{path}/deletedVaults/{name}/purge", {"api-version": "2024-11-01"}, None)[0]

    for name, protection in (("kv-dev-1", None), ("kv-prod-1", True)):
        azure.cloud.delete(azure.put("Vault", **vault(azure, name, enablePurgeProtection=protection)).id)
    assert (purge("kv-dev-1"), purge("kv-prod-1"), purge("kv-none")) == (202, 403, 404)
    assert broken(azure, "Vault", vault(azure)) == set()
    assert broken(azure, "Vault", vault(azure, "kv-prod-1")) == {"kv-softdeleted"}


def test_a_recovered_vault_is_as_it_was(azure: Azure) -> None:
    azure.cloud.delete(azure.put("Vault", **vault(azure, softDeleteRetentionInDays=30)).id)
    back = azure.put("Vault", **vault(azure, createMode="recover"))
    assert back.outputs["properties"]["softDeleteRetentionInDays"] == 30
    assert broken(azure, "Vault", vault(azure, "kv-dev-9", createMode="recover")) == {"kv-recover-none"}


@pytest.mark.parametrize(
    ("properties", "rule"),
    [
        ({"enablePurgeProtection": False}, "kv-purgeprot"),
        ({"enableSoftDelete": False}, "kv-softdelete-off"),
        ({"softDeleteRetentionInDays": 91}, "kv-retention"),
        ({"tenantId": "99999999-9999-4999-8999-999999999999"}, "kv-tenant"),
    ],
)
def test_a_vault_that_cannot_be(azure: Azure, properties: dict[str, Any], rule: str) -> None:
    assert rule in broken(azure, "Vault", vault(azure, **properties))


def test_protection_of_a_vault_only_grows(azure: Azure) -> None:
    azure.put("Vault", **vault(azure, enablePurgeProtection=True))
    assert broken(azure, "Vault", vault(azure)) == {"kv-purgeprot"}
    longer = vault(azure, enablePurgeProtection=True, softDeleteRetentionInDays=90)
    assert broken(azure, "Vault", longer) == {"kv-retention"}


def test_a_secret_is_written_through_arm_and_deleted_with_its_vault_only(azure: Azure) -> None:
    made = azure.put("Vault", **vault(azure, publicNetworkAccess="Disabled"))
    secret = azure.put("VaultSecret", vaultName="kv-dev-1", secretName="key", properties={"value": PASSWORD})
    assert "value" not in secret.outputs["properties"]
    assert PASSWORD not in azure.path.read_text()
    with pytest.raises(ArmError, match="Public network access is disabled"):
        azure.cloud.delete(secret.id)
    azure.put("Vault", **vault(azure, publicNetworkAccess="Enabled"))
    with pytest.raises(ArmError, match="not authorized"):
        azure.cloud.delete(secret.id)
    azure.cloud.delete(made.id)
    assert not azure.cloud.exists(secret.id)
