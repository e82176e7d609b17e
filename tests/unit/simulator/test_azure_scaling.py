"""How many nodes a pool has: its own count, the autoscaler's, and who may change which."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from simulator.azure import ArmError, Cloud
from tests.support.azure_fakes import Azure

SCALED: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 5, "count": 1}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def test_fixed_pool_follows_its_count(azure: Azure) -> None:
    azure.pool()
    one = azure.host.names("h100gpu")
    azure.pool(count=3)
    three = azure.host.names("h100gpu")
    assert (len(one), len(three)) == (1, 3)
    assert three[:1] == one
    azure.pool(count=0)
    assert azure.host.names("h100gpu") == []


def test_autoscaled_pool_keeps_its_count_through_a_put_and_is_moved_by_its_bounds(azure: Azure) -> None:
    azure.pool(**SCALED)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 4)
    assert len(azure.host.names("h100gpu")) == 4
    kept = azure.pool(**SCALED, tags={"cost": "robots"})
    assert kept.outputs["count"] == 4
    assert len(azure.host.names("h100gpu")) == 4
    assert azure.pool(**{**SCALED, "maxCount": 2}).outputs["count"] == 2
    assert azure.pool(**{**SCALED, "minCount": 1}).outputs["count"] == 2
    assert azure.pool(**{**SCALED, "count": 3}).outputs["count"] == 3


def test_a_raised_minimum_is_the_autoscalers_to_reach_when_the_count_is_only_repeated(azure: Azure) -> None:
    azure.pool(**SCALED)
    assert azure.pool(**{**SCALED, "minCount": 3}).outputs["count"] == 3
    assert len(azure.host.names("h100gpu")) == 3


def test_a_new_count_outside_the_bounds_is_refused(azure: Azure) -> None:
    azure.pool(**SCALED)
    with pytest.raises(ArmError) as refused:
        azure.pool(**{**SCALED, "minCount": 3, "count": 2})
    assert (refused.value.refusal.rule, refused.value.refusal.code) == ("pool-min-le-count", "InvalidParameter")


def test_pool_is_handed_to_the_autoscaler_as_it_is(azure: Azure) -> None:
    azure.pool(count=2)
    with pytest.raises(ArmError, match="Cannot manually scale and enable cluster autoscaler in the same update"):
        azure.pool(**SCALED)
    assert azure.pool(**{**SCALED, "count": 2}).outputs["count"] == 2
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 4)
    assert len(azure.host.names("h100gpu")) == 4


def test_autoscaler_remains_within_its_bounds_and_out_of_fixed_pools(azure: Azure) -> None:
    azure.pool(**SCALED)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 9)
    assert len(azure.host.names("h100gpu")) == 5
    with pytest.raises(ValueError, match="not an autoscaled pool"):
        azure.cloud.autoscale(azure.cluster_id, "system", 3)


def test_turning_autoscaling_off_brings_the_count_back(azure: Azure) -> None:
    azure.pool(**SCALED)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 5)
    assert azure.pool(count=2).outputs["count"] == 2


def test_stopped_pool_has_no_nodes(azure: Azure) -> None:
    azure.pool(count=2)
    azure.pool(count=2, powerState={"code": "Stopped"})
    assert azure.host.names("h100gpu") == []


def test_two_processes_that_share_a_cloud_see_what_the_other_one_did(azure: Azure) -> None:
    azure.pool(**SCALED)
    autoscaler = Cloud(azure.path, azure.host, clock=azure.clock.model(0))
    assert autoscaler.autoscale(azure.cluster_id, "h100gpu", 3) == 3
    assert azure.cloud.resources()[f"{azure.cluster_id}/agentPools/h100gpu"]["outputs"]["count"] == 3
    azure.pool(**SCALED, tags={"cost": "robots"})
    assert len(azure.host.names("h100gpu")) == 3, "the deployment took the autoscaler's nodes away"
    azure.pool(agentPoolName="late")
    assert autoscaler.exists(f"{azure.cluster_id}/agentPools/late")
    azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
    with pytest.raises(ValueError, match="not an autoscaled pool"):
        autoscaler.autoscale(azure.cluster_id, "h100gpu", 1)
    assert azure.host.names("h100gpu") == []


def test_a_resize_that_its_process_did_not_finish_is_finished_by_the_next_one(azure: Azure) -> None:
    azure.pool(**SCALED)
    apply = azure.host.apply_nodes

    def killed(cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        raise KeyboardInterrupt

    azure.host.apply_nodes = killed
    with pytest.raises(KeyboardInterrupt):
        azure.cloud.autoscale(azure.cluster_id, "h100gpu", 3)
    assert len(azure.host.names("h100gpu")) == 1
    azure.host.apply_nodes = apply
    later = Cloud(azure.path, azure.host, clock=azure.clock.model(0))
    later.finish_scaling(azure.cluster_id, "h100gpu")
    assert len(azure.host.names("h100gpu")) == 3
    assert later.resources()[f"{azure.cluster_id}/agentPools/h100gpu"]["outputs"]["provisioningState"] == "Succeeded"


def test_a_node_added_during_a_put_is_kept(azure: Azure) -> None:
    azure.pool(**SCALED)
    autoscaler = Cloud(azure.path, azure.host, clock=azure.clock.model(0))
    first = azure.host.apply_nodes

    def meanwhile(cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        azure.host.apply_nodes = first
        first(cluster_id, pool, nodes)
        other.start()

    other = threading.Thread(target=autoscaler.autoscale, args=(azure.cluster_id, "h100gpu", 2))
    azure.host.apply_nodes = meanwhile
    azure.pool(**SCALED, tags={"cost": "robots"})
    other.join(10)
    assert len(azure.host.names("h100gpu")) == 2
    assert azure.pool(**SCALED).outputs["count"] == 2


def test_the_autoscaler_reports_which_node_is_deleted_and_the_others_keep_their_names(azure: Azure) -> None:
    azure.pool(**SCALED)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 3)
    one, two, three = azure.host.names("h100gpu")
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 2, without={1})
    assert azure.host.names("h100gpu") == [one, three]
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 3)
    assert set(azure.host.names("h100gpu")) == {one, two, three}


def test_the_autoscaler_gets_no_more_than_the_quota(tmp_path: Path) -> None:
    family = catalog.vm_size("Standard_NC40ads_H100_v5").family
    azure = Azure(tmp_path / "azure.json", options={"quota": {family: 80}})
    azure.platform()
    azure.pool(**SCALED)
    assert azure.cloud.autoscale(azure.cluster_id, "h100gpu", 2) == 2
    with pytest.raises(ArmError, match=r"Insufficient .* quota left for location westus2"):
        azure.cloud.autoscale(azure.cluster_id, "h100gpu", 3)
    assert len(azure.host.names("h100gpu")) == 2
