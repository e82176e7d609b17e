"""Who may do what in the cluster: roles, identities and administrators as the program declares them."""

from __future__ import annotations

import pytest

from physical_ai.catalog.aks import Role
from physical_ai.settings.facts.naming import role_assignment_name
from tests.support.recording import record
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import DEPLOYER, SUBSCRIPTION, guid

GROUP, READER = "11111111-1111-1111-1111-111111111111", "22222222-2222-4222-8222-222222222222"
PRINCIPALS = {
    "access": {
        "principals": [
            {"principalId": GROUP, "principalType": "Group", "role": "reader"},
            {"principalId": READER},
            {"principalId": DEPLOYER.upper(), "principalType": "User", "role": "admin"},
        ]
    }
}

CLUSTER = "ManagedCluster"


def test_changed_tags_leave_identities_and_so_their_roles_alone(simulate: Simulate) -> None:
    identities = simulate("dev-westus2").of_type("UserAssignedIdentity")
    assert {each.options.ignore_changes for each in identities} == {("tags",)}


def test_cluster_follows_every_role_it_needs(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    cluster = recording.of_type(CLUSTER)[0]
    before = {
        each.inputs["scope"].rpartition("/")[2]: each.inputs["roleDefinitionId"].rpartition("/")[2]
        for each in recording.of_type("RoleAssignment")
        if each.urn in cluster.options.depends_on
    }
    assert before == {
        "id-physical-ai-kubelet-dev-westus2": Role.MANAGED_IDENTITY_OPERATOR,
        "snet-system": Role.NETWORK_CONTRIBUTOR,
        "snet-h100gpu": Role.NETWORK_CONTRIBUTOR,
        "snet-rtxprogpu": Role.NETWORK_CONTRIBUTOR,
    }
    assert recording.hooked[cluster.urn] == ("physical-ai-role-propagation",)


def test_deployer_is_cluster_admin_before_anything_is_made_in_the_cluster(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    role = recording.resource("RoleAssignment", f"physical-ai-access-{DEPLOYER}-deployer")
    assert (role.inputs["principalId"], role.inputs["principalType"]) == (DEPLOYER, "User")
    assert role.inputs["roleDefinitionId"].endswith(Role.RBAC_CLUSTER_ADMIN)
    assert role.inputs["scope"].endswith("/managedClusters/aks-physical-ai-dev-westus2")
    provider = recording.resource("kubernetes", "physical-ai-kubernetes-provider")
    assert role.urn in provider.options.depends_on
    assert recording.resource("AgentPool", "cpu").urn in provider.options.depends_on


def test_named_principals_get_their_role_and_the_right_to_log_in(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PRINCIPALS)
    roles = {
        each.inputs["roleDefinitionId"].rpartition("/")[2]: each.inputs["principalType"]
        for each in recording.of_type("RoleAssignment")
        if each.inputs["principalId"] == GROUP
    }
    assert roles == {Role.RBAC_READER: "Group", Role.CLUSTER_USER: "Group"}


def test_a_principal_is_a_reader_unless_it_is_made_an_admin(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PRINCIPALS)
    roles = {
        each.inputs["roleDefinitionId"].rpartition("/")[2]
        for each in recording.of_type("RoleAssignment")
        if each.inputs["principalId"] == READER
    }
    assert roles == {Role.RBAC_READER, Role.CLUSTER_USER}


def test_deployer_who_is_named_as_well_gets_the_admin_role_once(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PRINCIPALS)
    admins = [
        each
        for each in recording.of_type("RoleAssignment")
        if each.inputs["roleDefinitionId"].endswith(Role.RBAC_CLUSTER_ADMIN)
    ]
    assert len(admins) == 1


def test_groups_that_deploy_are_admin_groups_of_the_cluster_and_need_no_role_assignment(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"access": {"deployers": [{"principalId": GROUP}]}})
    assert recording.of_type(CLUSTER)[0].inputs["aadProfile"]["adminGroupObjectIDs"] == [GROUP]
    assert GROUP not in {each.inputs["principalId"] for each in recording.of_type("RoleAssignment")}
    assert "adminGroupObjectIDs" not in simulate("dev-westus2").of_type(CLUSTER)[0].inputs["aadProfile"]


@pytest.mark.parametrize("login", [GROUP, *(pytest.param(each, marks=pytest.mark.deep) for each in ("", None))])
def test_a_run_by_another_identity_declares_the_same(
    simulate: Simulate, login: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = simulate("dev-westus2")
    monkeypatch.setattr("workbench.mocks.recorder.DEPLOYER", login)
    assert record("dev-westus2").resources == named.resources


def test_role_assignment_names_are_decided_by_scope_principal_and_role(simulate: Simulate) -> None:
    for each in simulate("dev-westus2").of_type("RoleAssignment"):
        scope, principal = each.inputs["scope"], each.inputs["principalId"]
        role = each.inputs["roleDefinitionId"].rpartition("/")[2]
        assert each.inputs["roleAssignmentName"] == role_assignment_name(scope, principal, role)
        assert each.inputs["roleDefinitionId"].startswith(f"/subscriptions/{SUBSCRIPTION}/")
    assert role_assignment_name("/A/b", "c", "d") == role_assignment_name("/a/B", "C", "D")
    assert len({role_assignment_name(*parts) for parts in (("a", "b", "c"), ("a", "c", "b"), ("b", "a", "c"))}) == 3


def test_cluster_acts_as_the_identities_made_for_it(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2").of_type(CLUSTER)[0].inputs
    assert [each.rpartition("/")[2] for each in cluster["identity"]["userAssignedIdentities"]] == [
        "id-physical-ai-control-plane-dev-westus2"
    ]
    kubelet = cluster["identityProfile"]["kubeletidentity"]
    assert kubelet["resourceId"].endswith("/id-physical-ai-kubelet-dev-westus2")
    assert kubelet["objectId"] == guid("principal", "id-physical-ai-kubelet-dev-westus2")
