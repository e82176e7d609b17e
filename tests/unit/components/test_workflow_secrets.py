"""A workflow reads no secret of the platform: counted over roles, RBAC and namespaces that the program declares."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.recording import Recording
from tests.support.secret_reach import AGENTS, platform_secrets, readable
from tests.support.stacks import sweep
from tests.unit.components.test_components_control_plane import PLATFORM
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS
from workbench.mocks.azure_answers import guid
from workbench.policies import Resource

READER = "11111111-1111-1111-1111-111111111111"
WORKFLOWS = {"kind": "ServiceAccount", "namespace": "osmo-workflows", "name": "osmo-workflow"}


@pytest.fixture(scope="module")
def platform(simulate: Simulate) -> Recording:
    return simulate("dev-westus2", PLATFORM)


def test_a_workflow_reads_no_secret(platform: Recording) -> None:
    assert len(platform_secrets(platform.resources)) >= 7
    assert readable(platform.resources) == []


INSIDE = {"endpointSubnet": "10.40.3.0/26", "runnersInside": True}
SHAPES: dict[str, dict[str, Any]] = {
    "public": {"osmo": {"mode": "platform", "access": {**ACCESS, "scope": "public"}}},
    "private": {"network": {"mode": "private", "private": INSIDE}},
    "in the cluster": {"dataServices": {"source": "inCluster"}},
    "development login": {"osmo": {"mode": "platform", "access": {"login": "dev"}}},
    "read by people": {"access": {"principals": [{"principalId": READER, "role": "drift-reader"}]}},
}
"""Settings that declare roles and bindings of their own."""


@pytest.mark.parametrize("shape", sweep(SHAPES, ["private"]))
def test_nor_does_one_in_any_shape_of_the_platform(simulate: Simulate, shape: str) -> None:
    assert readable(simulate("dev-westus2", {**PLATFORM, **SHAPES[shape]}).resources) == []


@pytest.mark.parametrize("shape", ["public", "private"])
def test_the_agents_read_their_token_and_nothing_of_the_control_plane(simulate: Simulate, shape: str) -> None:
    resources = simulate("dev-westus2", {**PLATFORM, **SHAPES[shape]}).resources
    assert readable(resources, AGENTS) == ["osmo-operator/agent-token: mounted"]


def test_nor_where_the_data_services_are_in_the_cluster(simulate: Simulate) -> None:
    """OSMO gives a task the key of the bucket with its data, which opens no other one."""
    found = simulate("dev-westus2", {**PLATFORM, "dataServices": {"source": "inCluster"}})
    secrets = {each.inputs["metadata"]["name"]: each for each in platform_secrets(found.resources)}
    assert {"osmo-postgres", "osmo-cache", "osmo-storage", "osmo-workflow-log-cred"} <= set(secrets)
    assert readable(found.resources) == []
    given = json.loads(secrets["osmo-workflow-data-cred"].inputs["stringData"].value["cred.yaml"])
    server = json.loads(secrets["osmo-storage"].inputs["stringData"].value["identities.json"])["identities"]
    actions = [
        action
        for identity in server
        if identity["credentials"][0]["accessKey"] == given["access_key_id"]
        for action in identity["actions"]
    ]
    assert actions
    assert {action.partition(":")[2] for action in actions} == {"data"}


@pytest.mark.parametrize("stack", sweep(["dev-westus2", "prod-swedencentral", "dev-southeastasia", "prod-westeurope"]))
def test_nor_does_one_of_a_committed_stack(simulate: Simulate, stack: str) -> None:
    assert readable(simulate(stack).resources) == []


def like(platform: Recording, kind: str, **inputs: Any) -> Resource:
    sample = platform.of_type(kind)[0]
    return replace(sample, inputs={**sample.inputs, **inputs})


@pytest.mark.parametrize(
    "subject",
    [WORKFLOWS, {**WORKFLOWS, "name": "default"}, {"kind": "Group", "name": "system:authenticated"}],
)
def test_a_binding_that_gives_secrets_is_counted(platform: Recording, subject: dict[str, str]) -> None:
    rule = {"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get"]}
    role = like(platform, "ClusterRole", metadata={"name": "r"}, rules=[rule])
    given = {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [subject]}
    binding = like(platform, "ClusterRoleBinding", **given)
    found = readable([*platform.resources, role, binding])
    assert "osmo-control-plane/db-secret: ClusterRoleBinding b" in found
    assert "osmo-control-plane/osmo-mek: ClusterRoleBinding b" in found


def test_a_secret_in_the_workflows_namespace_is_counted(platform: Recording) -> None:
    (secret,) = (
        each for each in platform_secrets(platform.resources) if each.inputs["metadata"]["name"] == "db-secret"
    )
    moved = replace(secret, inputs={**secret.inputs, "metadata": {"name": "s", "namespace": "osmo-workflows"}})
    assert readable([*platform.resources, moved]) == ["osmo-workflows/s: mounted"]


def test_a_role_on_the_vault_is_counted(platform: Recording) -> None:
    """As in the toolchain this one is compared with, whose workflows read three secrets."""
    principal = guid("principal", "id-physical-ai-osmo-workflows-dev-westus2")
    role = "/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6"
    assignment = like(platform, "RoleAssignment", principalId=principal, roleDefinitionId=role)
    found = readable([*platform.resources, assignment])
    assert {name.partition(":")[0] for name in found} >= {"vault/osmo-mek", "vault/osmo-admin-password"}
