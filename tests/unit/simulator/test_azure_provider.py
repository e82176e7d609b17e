"""azure-native's verbs: names it makes up, locations it fills in, diffs, previews, refreshes, functions."""

from __future__ import annotations

import base64
import importlib
from pathlib import Path
from typing import Any

import pytest
from pulumi._types import resource_types  # what the SDK itself resolves outputs by

from simulator.azure import ArmError, AzureNative
from simulator.azure.bodies import preview_outputs
from simulator.azure.data import KINDS, mappings
from simulator.wire import UNKNOWN, Refused, Request, changes, under
from tests.support.azure_fakes import Azure
from tests.support.cases import in_one_test


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


@pytest.fixture
def provider(azure: Azure) -> AzureNative:
    return AzureNative(azure.cloud)


def request(kind: str, name: str = "thing", **more: Any) -> Request:
    token = mappings()[kind].token if kind in mappings() else kind
    return Request(f"urn:pulumi:dev::p::{token}::{name}", token, name, random_seed=bytes(range(32)), **more)


def test_a_name_is_made_from_the_logical_one_and_kept(provider: AzureNative) -> None:
    group, _ = provider.check(request("ResourceGroup", "rg"), {}, {"location": "westus2"})
    assert group["resourceGroupName"] == "rg00010203"
    pool, _ = provider.check(request("AgentPool", "h100-gpu-pool"), {}, {"resourceGroupName": "g", "resourceName": "c"})
    assert pool["agentPoolName"] == "h10000010203"
    role, _ = provider.check(
        request("RoleAssignment"), {}, {"scope": "/s", "principalId": "p", "roleDefinitionId": "r"}
    )
    assert role["roleAssignmentName"] == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    again, _ = provider.check(request("ResourceGroup", "rg"), group | {"resourceGroupName": "rgdeadbeef"}, {})
    assert again["resourceGroupName"] == "rgdeadbeef"


def test_location_comes_from_the_provider_or_the_resource_group(azure: Azure, provider: AzureNative) -> None:
    inputs = {"resourceGroupName": "rg-dev", "resourceName": "id"}
    assert provider.check(request("UserAssignedIdentity"), {}, inputs)[0]["location"] == "westus2"
    unknown = provider.check(request("UserAssignedIdentity"), {}, {**inputs, "resourceGroupName": "later"})[0]
    assert unknown["location"] is UNKNOWN
    provider.configure({"location": "swedencentral"})
    assert provider.check(request("UserAssignedIdentity"), {}, inputs)[0]["location"] == "swedencentral"


def test_check_reports_every_fault_and_leaves_enums_to_azure(azure: Azure, provider: AzureNative) -> None:
    inputs = azure.pool_inputs(agentPoolName="H100", osDiskSizeGB=5000, mode="user", colour="red")
    checked, failures = provider.check(request("AgentPool"), {}, inputs)
    assert {failure.property for failure in failures} == {"agentPoolName", "osDiskSizeGB"}
    with pytest.raises(ArmError):
        provider.create(request("AgentPool"), {**checked, "agentPoolName": "ok", "osDiskSizeGB": 0})


def replaced(provider: AzureNative, kind: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    diff = provider.diff(request(kind, id="x"), old, {}, new)
    assert diff.changes == changes(old, new)
    return any(under(path, prefix) for path in diff.changes for prefix in diff.replaces)


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"vmSize": "Standard_NC80adis_H100_v5"}, True),
        ({"gpuInstanceProfile": "MIG1g"}, True),
        ({"agentPoolName": "other"}, True),
        ({"count": 3}, False),
        ({"gpuProfile": {"driver": "Install"}}, False),
        ({"maxPods": 50}, False),
    ],
)
def test_replacement_follows_azure_native_not_aks(
    azure: Azure, provider: AzureNative, change: dict[str, Any], replaces: bool
) -> None:
    old, new = azure.pool_inputs(), azure.pool_inputs(**change)
    assert replaced(provider, "AgentPool", old, new) is replaces


def test_tags_inside_a_list_of_pools_replace_the_cluster(azure: Azure, provider: AzureNative) -> None:
    old = azure.cluster_inputs()
    (system,) = old["agentPoolProfiles"]
    tagged = {"networkProfile": {"nodePublicIPTags": [{"tag": "a"}]}}
    before = {**old, "agentPoolProfiles": [{**system, "networkProfile": {"nodePublicIPTags": [{"tag": "b"}]}}]}
    assert replaced(provider, "ManagedCluster", before, {**old, "agentPoolProfiles": [{**system, **tagged}]})
    assert not replaced(provider, "ManagedCluster", old, {**old, "agentPoolProfiles": [{**system, "count": 3}]})
    assert replaced(provider, "ManagedCluster", old, {**old, "dnsPrefix": "other"})


def test_location_is_compared_as_azure_compares_it(provider: AzureNative) -> None:
    old = {"resourceGroupName": "rg", "location": "westus2"}
    assert provider.diff(request("ResourceGroup"), old, {}, {**old, "location": "West US 2"}).changes == {}


def test_fixed_names_are_deleted_before_and_made_up_ones_after(azure: Azure, provider: AzureNative) -> None:
    old = azure.pool_inputs()
    assert provider.diff(request("AgentPool"), old, {}, old).delete_before_replace
    assert not provider.diff(request("AgentPool"), old, {}, {**old, "agentPoolName": "next"}).delete_before_replace
    made_up = {"resourceGroupName": "rg00010203", "location": "westus2"}
    assert not provider.diff(request("ResourceGroup", "rg"), made_up, {}, made_up).delete_before_replace


def test_preview_of_an_update_knows_name_and_location_only(azure: Azure, provider: AzureNative) -> None:
    old = azure.cluster_inputs()
    outputs = azure.cloud.resources()[azure.cluster_id]["outputs"]
    seen = provider.update(request("ManagedCluster", preview=True), old, outputs, {**old, "tags": {"a": "b"}})
    assert (seen["name"], seen["location"]) == ("aks", "westus2")
    assert seen["fqdn"] is UNKNOWN
    assert seen["oidcIssuerProfile"]["issuerURL"] is UNKNOWN
    assert "tags" not in azure.cloud.resources()[azure.cluster_id]["inputs"]


def test_preview_of_a_creation_makes_nothing(azure: Azure, provider: AzureNative) -> None:
    before = azure.cloud.resources()
    _, outputs = provider.create(request("AgentPool", preview=True), azure.pool_inputs(vnetSubnetID=UNKNOWN))
    assert outputs["vnetSubnetID"] is UNKNOWN
    assert azure.cloud.resources() == before


def test_outputs_fit_the_sdk(azure: Azure) -> None:
    outputs = azure.cloud.resources()[azure.cluster_id]["outputs"]
    identities = outputs["identity"]["userAssignedIdentities"]
    assert list(next(iter(identities.values()))) == ["clientId", "principalId"]
    assert outputs["oidcIssuerProfile"]["issuerURL"].startswith("https://westus2.oic.prod-aks.azure.com/")
    assert outputs["nodeResourceGroup"] == "MC_rg-dev_aks_westus2"
    assert outputs["currentKubernetesVersion"] == "1.36.3"
    assert outputs["kubernetesVersion"] == "1.36"
    assert "resourceGroupName" not in outputs
    assert azure.pool().outputs["type"] == "Microsoft.ContainerService/managedClusters/agentPools"


@in_one_test("kind", KINDS)
def test_outputs_of_a_preview_are_exactly_those_of_the_sdk(kind: str) -> None:
    """An output the SDK knows and a preview leaves out would read as None, and the program would take another path."""
    mapping = mappings()[kind]
    _, module, name = mapping.token.split(":")
    declared = getattr(importlib.import_module(f"pulumi_azure_native.{module}"), name)
    annotated = {output for output in resource_types(declared) if output not in ("id", "urn")}
    assert set(preview_outputs(mapping, {})) == annotated


def test_issuer_and_fqdn_remain_for_the_life_of_the_cluster(azure: Azure) -> None:
    first = azure.cloud.resources()[azure.cluster_id]["outputs"]
    second = azure.put("ManagedCluster", **azure.cluster_inputs(tags={"a": "b"})).outputs
    assert second["oidcIssuerProfile"] == first["oidcIssuerProfile"]
    assert second["fqdn"] == first["fqdn"]


def test_refresh_without_a_change_changes_no_input(azure: Azure, provider: AzureNative) -> None:
    for id, resource in azure.cloud.resources().items():
        kind = resource["type"].rsplit(":", 1)[-1]
        _, outputs, inputs = provider.read(request(kind, id=id), resource["outputs"], resource["inputs"])
        gateway = {"natGateway": inputs.pop("natGateway", None)} if kind == "PublicIPAddress" else {}
        assert inputs == resource["inputs"], kind
        assert outputs
        assert all(gateway.values()), "an address shows the gateway that uses it"


def test_refresh_brings_what_changed_meanwhile_into_the_inputs(azure: Azure, provider: AzureNative) -> None:
    scaled: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 5}
    made, inputs = azure.pool(**scaled), azure.pool_inputs(**scaled)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 4)
    _, outputs, refreshed = provider.read(request("AgentPool", id=made.id), made.outputs, inputs)
    assert outputs["count"] == refreshed["count"] == 4
    assert {**refreshed, "count": 1} == inputs


def test_import_brings_the_inputs_of_the_last_put(azure: Azure, provider: AzureNative) -> None:
    made = azure.pool()
    id, _, inputs = provider.read(request("AgentPool", id=made.id), {}, {})
    assert id == made.id
    assert inputs["vmSize"] == "Standard_NC40ads_H100_v5"
    assert inputs["resourceName"] == "aks"


def test_reading_a_missing_resource_returns_nothing(azure: Azure, provider: AzureNative) -> None:
    assert provider.read(request("AgentPool", id=f"{azure.cluster_id}/agentPools/none"), {}, {}) == ("", {}, {})


def test_user_credentials_and_client_config(azure: Azure, provider: AzureNative) -> None:
    args = {"resourceGroupName": "rg-dev", "resourceName": "aks"}
    answer = provider.invoke("azure-native:containerservice:listManagedClusterUserCredentials", args)
    (config,) = answer["kubeconfigs"]
    assert base64.b64decode(config["value"]).decode() == f"kubeconfig of {azure.cluster_id}"
    who = provider.invoke("azure-native:authorization:getClientConfig", {})
    assert who["objectId"] == azure.cloud.directory.deployer
    with pytest.raises(ArmError, match="disable local accounts"):
        provider.invoke("azure-native:containerservice:listManagedClusterAdminCredentials", args)
    with pytest.raises(ArmError, match="Status=404"):
        provider.invoke(
            "azure-native:containerservice:listManagedClusterUserCredentials", {**args, "resourceName": "x"}
        )
    with pytest.raises(Refused, match="no model"):
        provider.invoke("azure-native:storage:listStorageAccountKeys", {})


def test_unmodelled_type_is_refused_at_check(provider: AzureNative) -> None:
    with pytest.raises(Refused, match="no model of azure-native:web:WebApp"):
        provider.check(request("azure-native:web:WebApp"), {}, {})


def test_aks_error_is_flat_and_printed_as_azure_native_does(azure: Azure, provider: AzureNative) -> None:
    with pytest.raises(ArmError) as refused:
        provider.create(request("AgentPool"), azure.pool_inputs(nodeTaints=["nonsense"]))
    body = refused.value.refusal.body()
    assert body["code"] == "InvalidParameter"
    assert body["target"] == "agentPoolProfile.nodeTaints"
    assert "error" not in body
    assert str(refused.value) == (
        'Status=400 Code="InvalidParameter" Message="Invalid taint spec \'nonsense\': expected key=value:effect."'
        ' Target="agentPoolProfile.nodeTaints"'
    )
