"""Identities, federated credentials, role assignments, workspaces: refusals, and roles that take time to work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError, Directory
from tests.support.azure_fakes import GROUP, IDENTITY_OPERATOR, NETWORK_CONTRIBUTOR, Azure

SOMEONE = "99999999-9999-4999-8999-999999999999"


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.group()
    return made


def credential(**more: Any) -> dict[str, Any]:
    return {
        "resourceGroupName": GROUP,
        "resourceName": "plane",
        "federatedIdentityCredentialResourceName": "one",
        "issuer": "https://westus2.oic.prod-aks.azure.com/t/c/",
        "subject": "system:serviceaccount:osmo:osmo",
        "audiences": ["api://AzureADTokenExchange"],
        **more,
    }


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (None, {}),
        (None, {"issuer": "https://westus2.oic.prod-aks.azure.com/t/c"}),
        ("fic-issuer", {"issuer": "http://example.org"}),
        ("fic-issuer", {"issuer": "https://login.microsoftonline.com/t/v2.0"}),
        ("fic-audience", {"audiences": []}),
        ("fic-audience", {"audiences": ["a", "b"]}),
        ("fic-subject", {"subject": ""}),
        ("fic-name", {"federatedIdentityCredentialResourceName": "x"}),
        ("arm-child-parent", {"resourceName": "unknown"}),
    ],
)
def test_federated_credential(azure: Azure, rule: str | None, change: dict[str, Any]) -> None:
    azure.identity("plane")
    assert azure.rules("FederatedIdentityCredential", credential(**change)) == ({rule} if rule else set())


def test_issuer_and_subject_are_unique_and_twenty_is_the_most(azure: Azure) -> None:
    azure.identity("plane")
    for number in range(20):
        azure.put(
            "FederatedIdentityCredential",
            **credential(federatedIdentityCredentialResourceName=f"c{number:02}", subject=f"s{number}"),
        )
    again = credential(federatedIdentityCredentialResourceName="again", subject="s3")
    assert azure.rules("FederatedIdentityCredential", again) == {"fic-limit", "fic-unique"}


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("ra-name", {"roleAssignmentName": "deployer-admin"}),
        ("ra-principal-guid", {"principalId": "me"}),
        ("ra-role-format", {"roleDefinitionId": NETWORK_CONTRIBUTOR}),
        ("ra-role-exists", {"roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{SOMEONE}"}),
        ("ra-principal", {"principalId": SOMEONE, "principalType": None}),
        ("ra-principal-type", {"principalType": "User"}),
        ("ra-condition-version", {"condition": "@Resource[a] StringEquals 'b'"}),
        (None, {"principalId": SOMEONE}),
    ],
)
def test_role_assignment(azure: Azure, rule: str | None, change: dict[str, Any]) -> None:
    identity = azure.identity("plane")
    inputs: dict[str, Any] = {
        "roleAssignmentName": "00000000-0000-4000-8000-000000000001",
        "scope": identity.id,
        "principalId": identity.outputs["principalId"],
        "principalType": "ServicePrincipal",
        "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{IDENTITY_OPERATOR}",
        **change,
    }
    assert azure.rules("RoleAssignment", inputs) == ({rule} if rule else set())


def test_the_same_assignment_under_another_name_is_a_conflict(azure: Azure) -> None:
    plane = azure.identity("plane")
    azure.assign(IDENTITY_OPERATOR, plane.outputs["principalId"], plane.id, 1)
    with pytest.raises(ArmError) as refused:
        azure.assign(IDENTITY_OPERATOR, plane.outputs["principalId"].upper(), plane.id.upper(), 2)
    assert (refused.value.refusal.status, refused.value.refusal.code) == (409, "RoleAssignmentExists")
    with pytest.raises(ArmError) as refused:
        azure.assign(NETWORK_CONTRIBUTOR, plane.outputs["principalId"], plane.id, 1)
    assert refused.value.refusal.rule == "ra-update-role"
    with pytest.raises(ArmError) as refused:
        azure.assign(IDENTITY_OPERATOR, SOMEONE, plane.id, 1)
    assert refused.value.refusal.rule == "ra-update"


def test_scope_that_does_not_exist_is_refused(azure: Azure) -> None:
    with pytest.raises(ArmError) as refused:
        azure.assign(IDENTITY_OPERATOR, SOMEONE, azure.subnet_id)
    assert refused.value.refusal.status == 404


def test_fresh_identity_needs_its_type_named_until_the_directory_knows_it(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", role_delay_minutes=2)
    azure.group()
    plane = azure.identity("plane")
    with pytest.raises(ArmError, match="set the role assignment principalType"):
        azure.assign(IDENTITY_OPERATOR, plane.outputs["principalId"], plane.id, principalType=None)
    azure.clock.advance(2)
    made = azure.assign(IDENTITY_OPERATOR, plane.outputs["principalId"], plane.id, principalType=None)
    assert made.outputs["principalType"] == "ServicePrincipal"


@pytest.mark.parametrize(
    ("deployer", "given", "refused"),
    [
        ("User", "User", False),
        ("User", None, False),
        ("User", "ServicePrincipal", True),
        ("ServicePrincipal", "ServicePrincipal", False),
        ("ServicePrincipal", None, False),
        ("ServicePrincipal", "User", True),
    ],
)
def test_deployer_is_judged_like_any_other_principal(
    tmp_path: Path, deployer: str, given: str | None, refused: bool
) -> None:
    azure = Azure(tmp_path / "azure.json", options={"directory": Directory(deployer_type=deployer)})
    azure.group()
    scope, principal = azure.identity("plane").id, azure.cloud.directory.deployer
    if refused:
        with pytest.raises(ArmError) as error:
            azure.assign(IDENTITY_OPERATOR, principal, scope, principalType=given)
        assert error.value.refusal.code == "UnmatchedPrincipalType"
    else:
        made = azure.assign(IDENTITY_OPERATOR, principal, scope, principalType=given)
        assert made.outputs["principalType"] == deployer


def test_identity_made_again_is_another_principal(azure: Azure) -> None:
    first = azure.identity("plane")
    azure.cloud.delete(first.id)
    assert azure.identity("plane").outputs["principalId"] != first.outputs["principalId"]


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (None, {"retentionInDays": 30, "workspaceCapping": {"dailyQuotaGb": -1}}),
        (None, {"workspaceCapping": {"dailyQuotaGb": 0.5}}),
        ("law-retention", {"retentionInDays": 7}),
        ("law-sku", {"sku": {"name": "Standalone"}}),
        ("law-capacity", {"sku": {"name": "CapacityReservation", "capacityReservationLevel": 150}}),
        ("law-quota", {"workspaceCapping": {"dailyQuotaGb": 0.01}}),
        ("law-name", {"workspaceName": "a_b_c"}),
    ],
)
def test_log_analytics_workspace(azure: Azure, rule: str | None, change: dict[str, Any]) -> None:
    inputs = {"resourceGroupName": GROUP, "workspaceName": "logs", "location": azure.place, **change}
    assert azure.rules("Workspace", inputs) == ({rule} if rule else set())


def test_diagnostic_setting_needs_a_destination_that_exists(azure: Azure) -> None:
    watched = azure.identity("plane").id
    inputs: dict[str, Any] = {
        "resourceUri": watched,
        "name": "logs",
        "logs": [{"categoryGroup": "audit", "enabled": True}],
    }
    assert azure.rules("DiagnosticSetting", inputs) == {"arm-wrong-type"}
    missing = azure.id("Microsoft.OperationalInsights/workspaces/logs")
    assert azure.rules("DiagnosticSetting", {**inputs, "workspaceId": missing}) == {"arm-ref-missing"}
    workspace = azure.put("Workspace", workspaceName="logs", location=azure.place)
    assert azure.rules("DiagnosticSetting", {**inputs, "workspaceId": workspace.id}) == set()
    nowhere = {**inputs, "workspaceId": workspace.id, "resourceUri": azure.cluster_id}
    assert azure.rules("DiagnosticSetting", nowhere) == {"arm-child-parent"}
