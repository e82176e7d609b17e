"""Who may do what on Azure's management plane and, by roles that exist before the stack, inside a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from physical_ai.catalog.aks import Role
from physical_ai.subscription.needs import PREVIEW_ACTIONS
from simulator import entra
from simulator.azure import ArmError, AzureNative, Caller, Directory, StandingRole
from simulator.azure.data import mappings
from simulator.azure.rights import action
from simulator.azure.roles import guid_of, role_of
from simulator.wire import Request
from tests.support.azure_fakes import Azure
from workbench.cli import bootstrap_names, bootstrap_script
from workbench.cli.azure_commands import ASSIGNER_ROLE, condition

READER, OTHER, GROUP = (f"{n}0000000-0000-4000-8000-000000000000" for n in (1, 2, 3))


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    names = ("Reader", "Azure Kubernetes Service Cluster User Role", "Azure Kubernetes Service RBAC Reader")
    roles = [StandingRole(READER, guid_of(name)) for name in names]
    roles += [StandingRole(OTHER, guid_of("Contributor")), StandingRole(GROUP, guid_of("Owner"))]
    principals = {READER: "ServicePrincipal", OTHER: "User", GROUP: "Group"}
    made = Azure(tmp_path / "azure.json", options={"directory": Directory(principals=principals, roles=roles)})
    made.platform()
    return made


def request(kind: str, id: str = "") -> Request:
    return Request("urn", mappings()[kind].token, "thing", id=id)


def test_a_reader_reads_and_changes_nothing(azure: Azure) -> None:
    provider = AzureNative(azure.cloud, Caller(READER))
    assert provider.read(request("ManagedCluster", azure.cluster_id), {}, {})[0] == azure.cluster_id
    with pytest.raises(ArmError, match=r"managedClusters/agentPools/write' over scope '/subscriptions/") as refused:
        provider.create(request("AgentPool"), azure.pool_inputs())
    assert (refused.value.refusal.status, refused.value.refusal.code) == (403, "AuthorizationFailed")
    with pytest.raises(ArmError, match="managedClusters/delete"):
        provider.delete(request("ManagedCluster", azure.cluster_id), {}, {})
    place = {"resourceGroupName": "rg-dev", "resourceName": "aks"}
    assert provider.invoke("azure-native:containerservice:listManagedClusterUserCredentials", place)["kubeconfigs"]
    assert provider.invoke("azure-native:authorization:getClientConfig", {})["objectId"] == READER


def test_the_reading_identity_reads_the_key_of_a_cache_and_no_other(azure: Azure) -> None:
    """A preview asks for it: without the role that bootstrap makes, a stack with data services has no previews."""
    group = {"resourceGroupName": "rg-dev"}
    azure.put("RedisEnterprise", **group, clusterName="redis-1", location="westus2", sku={"name": "Balanced_B5"})
    inputs = {**group, "clusterName": "redis-1", "databaseName": "default", "accessKeysAuthentication": "Enabled"}
    azure.put("RedisEnterpriseDatabase", **inputs)
    asked = {**group, "clusterName": "redis-1", "databaseName": "default"}
    token = "azure-native:redisenterprise:listDatabaseKeys"
    with pytest.raises(ArmError, match=r"redisEnterprise/databases/listKeys/action"):
        AzureNative(azure.cloud, Caller(READER)).invoke(token, asked)

    own = role_of(f"/providers/Microsoft.Authorization/roleDefinitions/{guid_of(bootstrap_names.PREVIEW_ROLE)}")
    assert own is not None
    assert own.actions == list(PREVIEW_ACTIONS)
    directory = azure.cloud.directory
    role = StandingRole(READER, guid_of(bootstrap_names.PREVIEW_ROLE))
    azure.cloud.directory = replace(directory, roles=[*directory.roles, role])
    assert AzureNative(azure.cloud, Caller(READER)).invoke(token, asked)["primaryKey"]


def test_a_contributor_assigns_no_roles(azure: Azure) -> None:
    provider = AzureNative(azure.cloud, Caller(OTHER))
    provider.create(request("AgentPool"), azure.pool_inputs())
    with pytest.raises(ArmError, match=r"Microsoft\.Authorization/roleAssignments/write"):
        provider.create(request("RoleAssignment"), assignment(azure, Role.RBAC_READER, "1"))


def assignment(azure: Azure, role: str, name: str) -> dict[str, str]:
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{role}"
    return {
        "scope": azure.cluster_id,
        "roleAssignmentName": f"4a1e0000-0000-4000-8000-00000000000{name}",
        "principalId": READER,
        "roleDefinitionId": definition,
    }


def test_a_condition_limits_the_roles_that_can_be_assigned_and_removed(tmp_path: Path) -> None:
    administrator = StandingRole(OTHER, guid_of("Role Based Access Control Administrator"), {Role.RBAC_READER})
    directory = Directory(principals={OTHER: "User", READER: "User"}, roles=[administrator])
    azure = Azure(tmp_path / "azure.json", options={"directory": directory})
    azure.platform()
    provider = AzureNative(azure.cloud, Caller(OTHER))
    allowed = assignment(azure, Role.RBAC_READER, "1")
    id, state = provider.create(request("RoleAssignment"), allowed)
    provider.delete(request("RoleAssignment", id), allowed, state)
    refused = assignment(azure, guid_of("Owner"), "2")
    with pytest.raises(ArmError, match="roleAssignments/write"):
        provider.create(request("RoleAssignment"), refused)
    id, state = AzureNative(azure.cloud).create(request("RoleAssignment"), refused)
    with pytest.raises(ArmError, match="roleAssignments/delete"):
        provider.delete(request("RoleAssignment", id), refused, state)


def test_an_unknown_caller_sees_nothing(azure: Azure) -> None:
    stranger = AzureNative(azure.cloud, Caller("90000000-0000-4000-8000-000000000000"))
    with pytest.raises(ArmError, match="subscriptions/resourceGroups/read"):
        stranger.read(
            request("ResourceGroup", f"/subscriptions/{azure.cloud.directory.subscription}/resourceGroups/rg-dev"),
            {},
            {},
        )


def test_a_group_gives_its_members_its_roles(tmp_path: Path) -> None:
    roles = [StandingRole(GROUP, guid_of("Owner"))]
    directory = Directory(principals={GROUP: "Group"}, roles=roles, groups={OTHER: (GROUP,)})
    azure = Azure(tmp_path / "azure.json", options={"directory": directory})
    azure.platform()
    assert azure.cloud.azure().allowed(OTHER, "Microsoft.Network/virtualNetworks/write", azure.cluster_id)
    assert not azure.cloud.azure().allowed(READER, "Microsoft.Network/virtualNetworks/write", azure.cluster_id)


def test_roles_on_the_subscription_reach_into_its_clusters(azure: Azure) -> None:
    azure.cloud.settle()
    standing = {grant for key, grant in azure.host.grants.items() if "/standing/" in key[1]}
    assert standing == {(READER, "ServicePrincipal", Role.RBAC_READER)}


def test_actions_are_named_as_azure_names_them() -> None:
    group = "/subscriptions/s/resourceGroups/rg"
    assert action(group, "write") == "Microsoft.Resources/subscriptions/resourceGroups/write"
    subnet = f"{group}/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
    assert action(subnet, "delete") == "Microsoft.Network/virtualNetworks/subnets/delete"


def test_the_simulated_pipelines_have_the_roles_that_bootstrap_gives() -> None:
    assert entra.READER.roles == (*bootstrap_script.PREVIEW_ROLES, bootstrap_names.PREVIEW_ROLE)
    assert entra.SECOND_DEPLOYER.roles == (bootstrap_script.DEPLOYER_ROLE, ASSIGNER_ROLE)
    assert all(role in condition() for role in entra.SECOND_DEPLOYER.assigns)


def test_an_unknown_principal_is_answered_with_the_known_ones() -> None:
    assert entra.principal("reader") is entra.READER
    with pytest.raises(entra.UnknownPrincipal, match="deployer, second-deployer, reader, bystander"):
        entra.principal("nobody")
