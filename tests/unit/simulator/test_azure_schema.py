"""The generic check of a body: what the provider finds by itself, and what only the service refuses."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.azure.bodies import preview_outputs, to_body
from simulator.azure.data import mappings
from simulator.azure.schema import client_failures, findings, refusals
from simulator.wire import UNKNOWN

POOL: dict[str, Any] = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "pool", "vmSize": "S"}
CLUSTER: dict[str, Any] = {"resourceGroupName": "rg", "resourceName": "aks", "location": "westus2"}


def found(kind: str, inputs: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f.kind, f.path) for f in findings(kind, to_body(mappings()[kind], inputs))]


def test_a_plain_body_has_no_findings() -> None:
    assert found("AgentPool", POOL) == []
    assert client_failures(mappings()["AgentPool"], POOL) == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"agentPoolName": "GPU"}, ("pattern", "name")),
        ({"agentPoolName": "h100gpupool12"}, ("length", "name")),
        ({"count": "3"}, ("type", "properties.count")),
        ({"count": True}, ("type", "properties.count")),
        ({"osDiskSizeGB": 4096}, ("range", "properties.osDiskSizeGB")),
        (
            {"upgradeSettings": {"drainTimeoutInMinutes": 0}},
            ("range", "properties.upgradeSettings.drainTimeoutInMinutes"),
        ),
    ],
)
def test_provider_check_fails_before_any_request(change: dict[str, Any], finding: tuple[str, str]) -> None:
    inputs = {**POOL, **change}
    assert found("AgentPool", inputs) == [finding]
    name = next(iter(change)) if finding[1] == "name" else finding[1].removeprefix("properties.")
    assert [failure.property for failure in client_failures(mappings()["AgentPool"], inputs)] == [name]


@pytest.mark.parametrize(
    ("change", "kind", "rule"),
    [
        ({"gpuProfile": {"driver": "none"}}, "enum", "gpu-driver-enum"),
        ({"gpuProfile": {"driverType": "GRID"}}, "unknown", "gpu-drivertype-linux"),
        ({"mode": "user"}, "enum", "arm-wrong-type"),
        ({"osSKU": "Ubuntu2404"}, "enum", "ossku-known"),
        ({"nodeInitializationTaints": ["a:NoSchedule"]}, "unknown", "init-taints"),
        ({"gpuInstanceProfile": "MIG5g"}, "enum", "gpu-instance-enum"),
        ({"nodeImageVersion": "x"}, "readOnly", "arm-unknown-prop"),
    ],
)
def test_service_refuses_what_the_provider_lets_through(change: dict[str, Any], kind: str, rule: str) -> None:
    inputs = {**POOL, **change}
    mapping = mappings()["AgentPool"]
    assert [kind_ for kind_, _ in found("AgentPool", inputs)] == [kind]
    assert client_failures(mapping, inputs) == []
    assert [refusal.rule for refusal in refusals(mapping, to_body(mapping, inputs))] == [rule]


def test_autoscaler_profile_is_sent_in_kebab_case_and_its_types_are_checked() -> None:
    inputs = {**CLUSTER, "autoScalerProfile": {"maxNodeProvisionTime": 30, "ignoreDaemonsetsUtilization": True}}
    body = to_body(mappings()["ManagedCluster"], inputs)
    assert body["properties"]["autoScalerProfile"] == {
        "max-node-provision-time": 30,
        "ignore-daemonsets-utilization": True,
    }
    refusal = refusals(mappings()["ManagedCluster"], body)[0]
    assert (refusal.rule, refusal.code) == ("mc-autoscaler-types", "UnmarshalError")
    failure = client_failures(mappings()["ManagedCluster"], inputs)[0]
    assert failure.property == "autoScalerProfile.maxNodeProvisionTime"


def test_identities_are_given_as_a_list_and_into_the_body_as_a_map() -> None:
    inputs = {**CLUSTER, "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/id"]}}
    assert to_body(mappings()["ManagedCluster"], inputs)["identity"]["userAssignedIdentities"] == {"/id": {}}


def test_missing_required_inputs_are_named_once() -> None:
    mapping = mappings()["RoleAssignment"]
    failures = client_failures(mapping, {"roleAssignmentName": "x", "scope": "/s", "principalId": "p"})
    assert [failure.property for failure in failures] == ["roleDefinitionId"]


def test_unknown_values_pass_every_check() -> None:
    inputs = {**POOL, "vnetSubnetID": UNKNOWN, "count": UNKNOWN, "nodeLabels": {"a": UNKNOWN}}
    assert found("AgentPool", inputs) == []


def test_references_to_other_resources_may_hold_more_than_the_id() -> None:
    inputs = {
        "resourceGroupName": "rg",
        "virtualNetworkName": "v",
        "subnetName": "s",
        "addressPrefix": "10.0.0.0/24",
        "networkSecurityGroup": {"id": "/nsg", "location": "westus2"},
    }
    assert found("Subnet", inputs) == []


def test_preview_outputs_are_unknown_wherever_azure_has_the_last_word() -> None:
    inputs: dict[str, Any] = {
        **CLUSTER,
        "oidcIssuerProfile": {"enabled": True},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/id"]},
        "agentPoolProfiles": [{"name": "system", "count": 2}],
        "tags": {"env": "dev"},
    }
    outputs = preview_outputs(mappings()["ManagedCluster"], inputs)
    assert outputs["oidcIssuerProfile"] == {"enabled": True, "issuerURL": UNKNOWN}
    assert outputs["identity"]["userAssignedIdentities"] == {"/id": {"clientId": UNKNOWN, "principalId": UNKNOWN}}
    assert outputs["agentPoolProfiles"][0]["count"] == 2
    assert outputs["agentPoolProfiles"][0]["nodeImageVersion"] is UNKNOWN
    assert outputs["name"] is UNKNOWN
    assert outputs["fqdn"] is UNKNOWN
    assert outputs["tags"] == {"env": "dev"}
    assert "resourceGroupName" not in outputs
