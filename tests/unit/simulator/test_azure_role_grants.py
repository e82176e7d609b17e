"""Roles inside clusters: granted when they take effect, revoked with them, and again for a cluster made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from tests.support.azure_fakes import CLUSTER_ADMIN, Azure

SOMEONE = "99999999-9999-4999-8999-999999999999"


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.group()
    return made


def test_a_role_works_only_after_its_delay(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", role_delay_minutes=2)
    azure.network()
    azure.identities()
    with pytest.raises(ArmError) as refused:
        azure.cluster()
    assert refused.value.refusal.code == "CustomKubeletIdentityMissingPermissionError"
    assert azure.host.clusters == {}
    azure.clock.advance(1.9)
    with pytest.raises(ArmError):
        azure.cluster()
    azure.clock.advance(0.2)
    assert azure.cluster().state == "Succeeded"


def admin(azure: Azure, scope: str, number: int = 9, **more: Any) -> str:
    who = {"principalType": "User", **more}
    return azure.assign(CLUSTER_ADMIN, azure.cloud.directory.deployer, scope, number, **who).id


def test_role_inside_the_cluster_is_granted_when_it_takes_effect_and_revoked_with_it(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", role_delay_minutes=2)
    azure.network()
    azure.identities()
    azure.clock.advance(2)
    azure.cluster()
    assignment = admin(azure, azure.cluster_id)
    assert azure.host.grants == {}
    azure.clock.advance(2.1)
    deployer = azure.cloud.directory.deployer
    assert azure.host.grants == {(azure.cluster_id, assignment): (deployer, "User", CLUSTER_ADMIN)}
    azure.cloud.delete(assignment)
    assert azure.host.grants == {}


def test_role_on_an_enclosing_scope_reaches_a_cluster_made_later(azure: Azure) -> None:
    subscription = f"/subscriptions/{azure.cloud.directory.subscription}"
    assignment = admin(azure, subscription)
    azure.platform()
    assert list(azure.host.grants) == [(azure.cluster_id, assignment)]


def test_management_roles_and_clusters_without_azure_rbac_grant_nothing_inside(azure: Azure) -> None:
    azure.network()
    azure.identities()
    azure.cluster(aadProfile={"managed": True})
    admin(azure, azure.cluster_id)
    azure.assign("8e3af657-a8ff-443c-a75c-2fe8c4bcb635", SOMEONE, azure.cluster_id, 10)
    assert azure.host.grants == {}


def test_admin_groups_of_the_cluster_are_granted(azure: Azure) -> None:
    azure.network()
    azure.identities()
    azure.cluster(aadProfile={"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [SOMEONE]})
    assert list(azure.host.grants.values()) == [(SOMEONE, "Group", CLUSTER_ADMIN)]


def test_role_whose_time_came_while_nothing_ran_is_granted_on_opening(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", role_delay_minutes=2)
    azure.network()
    azure.identities()
    azure.clock.advance(2)
    azure.cluster()
    admin(azure, azure.cluster_id)
    azure.cloud.close()
    azure.clock.advance(60)
    assert azure.host.grants == {}
    azure.reopen()
    azure.cloud.settle()
    assert len(azure.host.grants) == 1


def test_grant_that_fails_is_tried_again(azure: Azure) -> None:
    azure.platform()
    azure.host.fail = {"grant"}
    admin(azure, azure.cluster_id)
    assert azure.host.grants == {}
    azure.host.fail = set()
    azure.clock.advance(1)
    assert len(azure.host.grants) == 1


def test_role_that_takes_effect_while_others_are_granted_is_granted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure = Azure(tmp_path / "azure.json", role_delay_minutes=2)
    azure.network()
    azure.identities()
    azure.clock.advance(1)
    admin(azure, f"/subscriptions/{azure.cloud.directory.subscription}")
    azure.clock.advance(1.9)
    grant = azure.host.grant

    def slowly(*arguments: str) -> None:
        grant(*arguments)
        azure.clock.seconds += 0.2

    monkeypatch.setattr(azure.host, "grant", slowly)
    azure.cluster(aadProfile={"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [SOMEONE]})
    azure.clock.advance(0.1)
    assert {principal for principal, _, _ in azure.host.grants.values()} == {azure.cloud.directory.deployer, SOMEONE}


def test_admin_group_whose_grant_fails_is_granted_with_the_roles_that_follow(azure: Azure) -> None:
    azure.network()
    azure.identities()
    azure.host.fail = {"grant"}
    azure.cluster(aadProfile={"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [SOMEONE]})
    admin(azure, azure.cluster_id)
    assert azure.host.grants == {}
    azure.host.fail = set()
    azure.clock.advance(1)
    assert len(azure.host.grants) == 2


def test_cluster_made_again_gets_its_grants_again(azure: Azure) -> None:
    scope = f"/subscriptions/{azure.cloud.directory.subscription}"
    azure.platform()
    admin(azure, scope)
    azure.cloud.delete(azure.cluster_id)
    assert azure.host.grants == {}
    azure.cluster()
    assert len(azure.host.grants) == 1
