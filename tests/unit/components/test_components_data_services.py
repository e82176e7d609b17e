"""The data services: what is declared of them in development and production, and what is kept secret and protected."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog.aks import Role
from tests.support.recording import Recording
from tests.unit.conftest import Simulate
from workbench.policies import UNKNOWN, Resource, Secret, evaluate

DEV, PROD = "dev-westus2", "prod-westus2"
DATA = ("Server", "StorageAccount", "Vault", "Registry")
KINDS = (*DATA, "RedisEnterprise", "Database", "BlobContainer", "Secret", "CacheRule", "FirewallRule")


def azure(simulate: Simulate, stack: str = DEV, **settings: Any) -> Recording:
    return simulate(stack, {"dataServices": {"source": "azure", **settings}})


def of(found: Recording, kind: str) -> list[Resource]:
    """Resources of a type in Azure; components have names of their own."""
    return [each for each in found.of_type(kind) if each.custom]


def one(found: Recording, kind: str) -> dict[str, Any]:
    (resource,) = of(found, kind)
    return dict(resource.inputs)


def named(found: Recording, kind: str, ends: str) -> Resource:
    (resource,) = [each for each in of(found, kind) if each.name.endswith(ends)]
    return resource


def test_a_stack_without_them_declares_none(simulate: Simulate) -> None:
    found = simulate(DEV)
    assert [each.type for each in found.resources if each.type.startswith("azure-native:dbforpostgresql")] == []
    assert "dataServices" not in found.exports


def test_they_change_the_tasks_network_of_a_running_cluster_alone(simulate: Simulate) -> None:
    """It leaves out the ports of public data services."""
    before, after = ({each.urn: each.inputs for each in found.resources} for found in (simulate(DEV), azure(simulate)))
    changed = [urn.rpartition("::")[2] for urn, inputs in before.items() if after.get(urn) != inputs]
    assert changed == ["physical-ai-osmo-workflows-tasks-network-policy"]


@pytest.mark.parametrize("preview", [True, False])
def test_they_do_not_wait_for_the_cluster(simulate: Simulate, preview: bool) -> None:
    found = simulate(DEV, {"dataServices": {"source": "azure"}}, preview=preview)
    mine = [each for kind in KINDS for each in of(found, kind) if each.type.startswith("azure-native:")]
    mine = [each for each in mine if "physical-ai-data" in each.name]
    assert len(mine) >= len(KINDS)
    assert not [
        each.name for each in mine if any("ManagedCluster" in on or "AgentPool" in on for on in each.options.depends_on)
    ]


def test_the_database_is_reached_with_tls_from_the_nodes_only(simulate: Simulate) -> None:
    found = azure(simulate)
    parameters = {each.inputs["configurationName"]: each.inputs["value"] for each in found.of_type("Configuration")}
    assert parameters["require_secure_transport"] == "on"
    assert set(parameters["azure.extensions"].split(",")) == {"HSTORE", "UUID-OSSP", "PG_STAT_STATEMENTS"}
    (rule,) = found.of_type("FirewallRule")
    assert rule.inputs["startIpAddress"] == rule.inputs["endIpAddress"] == "203.0.113.7"


def test_changes_of_one_server_come_one_after_the_other(simulate: Simulate) -> None:
    found = azure(simulate)
    inner = [*found.of_type("Configuration"), *found.of_type("FirewallRule")]
    urns = {each.urn for each in [*inner, named(found, "Database", "postgres-database")]}
    before = [tuple(on for on in each.options.depends_on if on in urns) for each in inner]
    assert all(len(on) == 1 for on in before)
    assert len(set(before)) == len(before)


def test_passwords_and_keys_are_secret_everywhere(simulate: Simulate) -> None:
    found = azure(simulate)
    assert isinstance(one(found, "Server")["administratorLoginPassword"], Secret)
    kept = {each.inputs["secretName"]: each for each in found.resources if each.type == "azure-native:keyvault:Secret"}
    assert kept.keys() == {"postgres-password", "redis-key"}
    assert all(isinstance(each.inputs["properties"]["value"], Secret) for each in kept.values())
    assert all(each.options.retain_on_delete for each in kept.values()), "the vault itself would be asked to delete it"
    assert "Secret" not in repr(found.exports["dataServices"])


@pytest.mark.deep  # in `make test`: generations of secrets in test_components_control_plane.py
def test_another_generation_is_another_password_and_the_last_one_stays(simulate: Simulate) -> None:
    first, second = azure(simulate), azure(simulate, postgres={"passwordGeneration": 2})
    assert one(first, "Server")["administratorLoginPassword"].value != (
        one(second, "Server")["administratorLoginPassword"].value
    )
    names = {each.name for each in second.of_type("RandomPassword")}
    assert {"physical-ai-data-postgres-password-1", "physical-ai-data-postgres-password-2"} <= names


@pytest.mark.deep  # in `make test`: passwords and keys above
def test_the_other_access_key_is_used_when_the_settings_say_so(simulate: Simulate) -> None:
    keys = [
        named(azure(simulate, redis={"key": key}), "Secret", "redis-key").inputs["properties"]["value"].value
        for key in ("primary", "secondary")
    ]
    assert keys[0] != keys[1]


def test_the_cache_is_what_osmo_can_use(simulate: Simulate) -> None:
    found = azure(simulate)
    database = named(found, "Database", "redis-database").inputs
    assert (database["clusteringPolicy"], database["clientProtocol"]) == ("EnterpriseCluster", "Encrypted")
    assert (database["port"], database["accessKeysAuthentication"]) == (10000, "Enabled")


def test_storage_has_no_shared_key_and_deletes_logs(simulate: Simulate) -> None:
    found = azure(simulate, storage={"coolDataAfterDays": 30})
    account = one(found, "StorageAccount")
    assert (account["allowSharedKeyAccess"], account["allowBlobPublicAccess"]) == (False, False)
    assert {each.inputs["containerName"] for each in found.of_type("BlobContainer")} == {"data", "logs", "apps"}
    rules = {rule["name"]: rule["definition"] for rule in one(found, "ManagementPolicy")["policy"]["rules"]}
    assert rules["logs"]["actions"]["baseBlob"] == {"delete": {"daysAfterModificationGreaterThan": 90}}
    assert rules["data"]["actions"]["baseBlob"] == {"tierToCool": {"daysAfterModificationGreaterThan": 30}}
    assert rules["data"]["filters"]["prefixMatch"] == ["data/"]


def test_nodes_may_pull_and_the_registry_knows_its_upstreams(simulate: Simulate) -> None:
    found = azure(simulate, registry={"upstreams": ["nvcr.io"]})
    (rule,) = found.of_type("CacheRule")
    assert (rule.inputs["sourceRepository"], rule.inputs["targetRepository"]) == ("nvcr.io/*", "nvcr.io/*")
    pull = named(found, "RoleAssignment", "images-pull").inputs
    assert pull["roleDefinitionId"].endswith(Role.ACR_PULL)
    assert "/registries/" in pull["scope"]


def test_the_vaults_name_is_no_deleted_vaults(simulate: Simulate) -> None:
    recording = azure(simulate)
    vault = one(recording, "Vault")
    (suffix,) = (each for each in recording.of_type("RandomPassword") if each.name.endswith("vault-suffix"))
    prefix, _, random = str(vault["vaultName"]).rpartition("-")
    assert prefix == "kv-dev-westus2"
    assert len(random) == suffix.inputs["length"] == 8
    # A preview of a new stack does not know it yet.
    planned = simulate(DEV, {"dataServices": {"source": "azure"}}, preview=True)
    assert one(planned, "Vault")["vaultName"] is UNKNOWN


def test_production_is_protected_redundant_and_cannot_be_purged(simulate: Simulate) -> None:
    found = azure(simulate, PROD)
    assert all(each.options.protect for kind in DATA for each in of(found, kind))
    server, vault = one(found, "Server"), one(found, "Vault")["properties"]
    assert server["highAvailability"]["mode"] == "SameZone"  # West US 2 is not known to make others
    assert server["backup"] == {"backupRetentionDays": 35, "geoRedundantBackup": "Enabled"}
    assert (vault["enablePurgeProtection"], vault["softDeleteRetentionInDays"]) == (True, 90)
    assert one(found, "Registry")["zoneRedundancy"] == "Enabled"


def test_data_of_production_stays_protected_until_the_words_are_said(simulate: Simulate) -> None:
    words = {"deletion": f"delete the data of {PROD}"}
    kept = simulate(PROD, {"protect": False, "dataServices": {"source": "azure"}})
    free = simulate(PROD, {"protect": False, "dataServices": {"source": "azure", **words}})
    assert all(each.options.protect for kind in DATA for each in of(kept, kind))
    assert not any(each.options.protect for kind in DATA for each in of(free, kind))
    assert [each.options.protect for each in of(kept, "RedisEnterprise")] == [False]


def test_development_can_be_purged_and_never_says_so_with_false(simulate: Simulate) -> None:
    vault = one(azure(simulate), "Vault")["properties"]
    assert "enablePurgeProtection" not in vault
    assert vault["enableRbacAuthorization"] is True


def test_the_stack_exports_addresses(simulate: Simulate) -> None:
    exported = azure(simulate).exports["dataServices"]
    assert exported["postgres"].endswith(".postgres.database.azure.com")
    assert exported["vault"].startswith("https://kv-dev-westus2-")
    assert exported["registry"].endswith(".azurecr.io")


def test_policies_find_nothing_in_development(simulate: Simulate) -> None:
    plain = {str(each) for each in evaluate(simulate(DEV).stack)}
    assert {str(each) for each in evaluate(azure(simulate).stack)} == plain


def test_policies_find_only_what_is_reached_from_the_internet_and_reaches_it_in_a_public_production(
    simulate: Simulate,
) -> None:
    found = {each.rule for each in evaluate(azure(simulate, PROD).stack)}
    assert found - {each.rule for each in evaluate(simulate(PROD).stack)} == {"private-data-services", "registry-only"}
