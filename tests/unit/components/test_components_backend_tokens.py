"""The token of another stack's agents: one secret, one identity that reads it, and what the other stack declares."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from physical_ai.planning.osmo_token import IDENTITY_FILE, osmo_token_objects
from physical_ai.settings import STACKS, Overlay, SettingsError, load
from physical_ai.settings.facts.osmo_token import served_backends
from tests.support.recording import Recording, record
from tests.unit.components.test_components_control_plane import GIVEN
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS, DATA
from workbench.mocks.azure_answers import SUBSCRIPTION

OTHER = "prod-swedencentral"
IDENTITY = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-physical-ai-dev-westus2"
    "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-physical-ai-osmo-agents-sweden-dev-westus2"
)
FROM = {
    "vault": "https://kv-dev-westus2-1a2b3c4d.vault.azure.net/",
    "identity": IDENTITY,
    "clientId": "aaaaaaaa-0000-4000-8000-00000000000c",
}
BACKEND: dict[str, Any] = {
    "mode": "backend",
    "serviceUrl": "https://osmo.contoso.com",
    "backendName": "sweden",
    "tokenFrom": FROM,
}
ACCOUNT = "system:serviceaccount:osmo-operator:osmo-token"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The committed stacks, with one that is a backend of another."""
    found = Path(shutil.copytree(STACKS, tmp_path / "stacks"))
    file = found / f"Pulumi.{OTHER}.yaml"
    document = yaml.safe_load(file.read_text())
    document["config"]["physical-ai:osmo"] = BACKEND
    file.write_text(yaml.safe_dump(document))
    return found


def own(**more: Any) -> dict[str, Any]:
    return {"dataServices": DATA, "osmo": {"mode": "platform", "access": ACCESS, "backends": [OTHER], **more}}


def job_args(recording: Recording) -> list[str]:
    (job,) = recording.of_type("Job")
    (container,) = job.inputs["spec"]["template"]["spec"]["containers"]
    return container["args"]


def test_the_job_creates_a_token_for_each_served_stack(root: Path) -> None:
    loaded = load("dev-westus2", [Overlay("test", own(tokenRotation="1"))], root)
    objects = osmo_token_objects(loaded.settings, loaded.served)
    assert objects is not None
    pod = objects.job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert "--served=sweden-agents=sweden-1=osmo-agents-sweden" in container["args"]
    (volume,) = (each for each in pod["volumes"] if each["name"] == "identity")
    assert volume["projected"]["sources"][0]["serviceAccountToken"]["audience"] == "api://AzureADTokenExchange"
    assert served_backends(loaded.served) == {OTHER: "sweden"}
    alone = osmo_token_objects(loaded.settings)
    assert alone is not None
    assert "projected" not in str(alone.job)


def test_each_identity_may_use_its_one_secret(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(OTHER, (), root).settings
    monkeypatch.setattr(
        "components.platform.osmo_stage.served_backends", lambda served: {OTHER: loaded.osmo.backend_name}
    )
    recording = record("dev-westus2", {**own(), "osmo": {**own()["osmo"], "backends": []}, "secrets": GIVEN})
    roles = {
        each.name.rpartition("backend-tokens-")[2]: each.inputs
        for each in recording.of_type("RoleAssignment")
        if "backend-tokens" in each.name
    }
    assert set(roles) == {"sweden-read", "sweden-write"}
    assert all(each["scope"].endswith("/secrets/osmo-agents-sweden") for each in roles.values())
    assert roles["sweden-read"]["principalId"] != roles["sweden-write"]["principalId"]
    assert roles["sweden-read"]["roleDefinitionId"].endswith("4633458b-17de-408a-b874-0445c86b69e6")
    (kept,) = (each for each in recording.of_type("Secret") if each.inputs.get("secretName") == "osmo-agents-sweden")
    assert set(kept.options.ignore_changes) == {"properties", "tags"}, "a deployment would overwrite the token"
    served = recording.exports["osmo"]["served"][OTHER]
    assert set(served) == {"vault", "identity", "clientId"}
    assert [each for each in job_args(recording) if str(each).startswith("--vault=https://kv-dev-westus2-")]


def test_the_other_stack_takes_it_with_an_identity_of_that_program_alone(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"osmo": BACKEND})
    (credential,) = (
        each for each in recording.of_type("FederatedIdentityCredential") if each.inputs["subject"] == ACCOUNT
    )
    assert credential.inputs["resourceGroupName"] == "rg-physical-ai-dev-westus2"
    args = job_args(recording)
    assert args[0] == "fetch"
    assert {
        "--name=sweden-1",
        "--vault-secret=osmo-agents-sweden",
        "--service=https://osmo.contoso.com",
        f"--vault={FROM['vault']}",
        f"--client={FROM['clientId']}",
        f"--identity-file={IDENTITY_FILE}",
    } <= set(args)
    (job,) = recording.of_type("Job")
    assert job.inputs["metadata"]["namespace"] == "osmo-operator"
    assert "default-admin-secret" not in str(job.inputs), "another stack's cluster has no administrator's password"
    assert credential.urn in job.options.depends_on
    (role,) = (each.inputs for each in recording.of_type("Role") if each.inputs["metadata"]["name"] == "osmo-token")
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["agent-token"], "verbs": ["get", "patch"]}
    ]
    (agents,) = (each for each in recording.of_type("Release") if each.inputs["name"] == "osmo-operator")
    assert job.urn in agents.options.depends_on


def test_no_secret_of_the_stack_is_needed_and_none_is_in_its_state(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"osmo": BACKEND})
    (secret,) = (
        each for each in recording.of_type("Secret") if each.inputs.get("metadata", {}).get("name") == "agent-token"
    )
    assert not {"data", "stringData"} & set(secret.inputs)


def test_an_identity_of_another_subscription_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = {**FROM, "identity": IDENTITY.replace(SUBSCRIPTION, "99999999-0000-4000-8000-000000000000")}
    monkeypatch.setattr("components.platform.platform.target_cluster", None)  # before anything is declared
    with pytest.raises(pulumi.RunError, match=r"physical-ai:osmo\.tokenFrom\.identity\n  The identity is in"):
        record("dev-westus2", {"osmo": {**BACKEND, "tokenFrom": elsewhere}})


def test_two_stacks_with_different_rotations_are_reported_before_a_deployment(root: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", own(tokenRotation="2026-12"))], root)
    (fault,) = caught.value.faults
    assert fault.where == "osmo.backends[0]"
    assert "rotation '1'" in fault.problem


@pytest.mark.parametrize(
    "osmo",
    [
        {"mode": "platform", "access": ACCESS, "tokenFrom": FROM},
        {**BACKEND, "tokenFrom": {**FROM, "vault": "http://kv.vault.azure.net"}},
        {**BACKEND, "tokenFrom": {**FROM, "identity": "sweden"}},
    ],
)
def test_a_source_that_cannot_be_is_refused_while_loading(osmo: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", {"dataServices": DATA, "osmo": osmo})])
    assert all(fault.where.startswith("osmo.tokenFrom") for fault in caught.value.faults)
