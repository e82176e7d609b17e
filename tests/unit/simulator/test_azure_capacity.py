"""Operations that Azure accepts and then fails: what is left, how the engine hears of it, and how it is put right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import AzureNative
from simulator.azure.data import mappings
from simulator.wire import NotReady, Refused, Request
from tests.support.azure_fakes import Azure, MemoryHost

H100 = "Standard_NC40ads_H100_v5"
SYSTEM = "Standard_D4ds_v5"


def platform(path: Path, **capacity: int) -> Azure:
    made = Azure(path / "azure.json", options={"capacity": capacity})
    made.platform()
    return made


def request(kind: str) -> Request:
    return Request("urn", mappings()[kind].token, "thing", id="x")


def create(azure: Azure, **change: Any) -> tuple[str, dict[str, Any]]:
    return AzureNative(azure.cloud).create(request("AgentPool"), azure.pool_inputs(**change))


def update(azure: Azure, **change: Any) -> dict[str, Any]:
    inputs = azure.pool_inputs(**change)
    return AzureNative(azure.cloud).update(request("AgentPool"), azure.pool_inputs(), {}, inputs)


def with_capacity(azure: Azure, **capacity: int) -> None:
    azure.options["capacity"] = capacity
    azure.reopen()


def test_pool_that_azure_has_no_machines_for_is_added_to_the_state_as_failed(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 1})
    with pytest.raises(NotReady) as failed:
        create(azure, count=3)
    assert failed.value.id == f"{azure.cluster_id}/agentPools/h100gpu"
    assert failed.value.inputs == azure.pool_inputs(count=3)
    assert failed.value.outputs["provisioningState"] == "Failed"
    assert failed.value.outputs["vmSize"] == H100
    (reason,) = failed.value.reasons
    assert reason.startswith('Code="AllocationFailed" Message="Allocation failed. We do not have sufficient capacity')
    assert azure.cloud.resources()[failed.value.id]["state"] == "Failed"
    assert len(azure.host.names("h100gpu")) == 1


def test_failed_pool_exists_and_another_put_puts_it_right(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 1})
    with pytest.raises(NotReady):
        create(azure, count=3)
    with pytest.raises(Refused, match="cannot create already existing resource"):
        create(azure, count=3)
    with pytest.raises(NotReady):
        update(azure, count=3)
    with_capacity(azure, **{H100: 3})
    outputs = update(azure, count=3)
    assert (outputs["provisioningState"], outputs["count"]) == ("Succeeded", 3)
    assert len(azure.host.names("h100gpu")) == 3


def test_asking_for_no_more_than_there_is_puts_it_right_too(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 1})
    with pytest.raises(NotReady):
        create(azure, count=3)
    assert update(azure, count=1)["provisioningState"] == "Succeeded"


def test_capacity_that_just_suffices_is_enough_and_other_sizes_have_no_limit(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 2})
    assert create(azure, count=2)[1]["provisioningState"] == "Succeeded"
    other = {"vmSize": "Standard_NC80adis_H100_v5", "agentPoolName": "other"}
    assert create(azure, count=40, **other)[1]["provisioningState"] == "Succeeded"


def test_scaling_up_in_vain_keeps_the_nodes_there_are(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 2})
    create(azure, count=2)
    before = azure.host.names("h100gpu")
    with pytest.raises(NotReady, match="AllocationFailed"):
        update(azure, count=4)
    assert azure.host.names("h100gpu") == before


def test_pools_of_one_size_share_its_capacity(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 2})
    create(azure, count=2)
    with pytest.raises(NotReady):
        create(azure, agentPoolName="more")
    assert azure.host.names("more") == []
    azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
    assert update(azure, agentPoolName="more")["provisioningState"] == "Succeeded"


def test_zonal_pool_fails_with_the_zonal_code(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 0})
    with pytest.raises(NotReady, match=r'Code="ZonalAllocationFailed".* in this zone'):
        create(azure, availabilityZones=["1"])


def test_cluster_whose_system_pool_gets_no_machines_is_failed_but_there(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", options={"capacity": {SYSTEM: 1}})
    azure.network()
    azure.identities()
    provider = AzureNative(azure.cloud)
    with pytest.raises(NotReady) as failed:
        provider.create(request("ManagedCluster"), azure.cluster_inputs())
    assert failed.value.id == azure.cluster_id
    assert azure.cluster_id in azure.host.clusters
    assert len(azure.host.names("system")) == 1
    assert azure.cloud.resources(inline=True)[f"{azure.cluster_id}/agentPools/system"]["state"] == "Failed"
    assert azure.pool().state == "Succeeded"
    with_capacity(azure)
    assert azure.put("ManagedCluster", **azure.cluster_inputs()).state == "Succeeded"
    assert len(azure.host.names("system")) == 2


def test_autoscaler_without_machines_leaves_the_pool_as_it_is(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 2})
    create(azure, enableAutoScaling=True, minCount=0, maxCount=5)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 4)
    pool = azure.cloud.get(f"{azure.cluster_id}/agentPools/h100gpu")
    assert pool is not None
    assert (pool.state, pool.outputs["count"]) == ("Succeeded", 2)


def test_operation_that_outlives_its_client_fails_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def killed(*args: object) -> None:
        raise Killed

    azure = platform(tmp_path, **{H100: 1})
    monkeypatch.setattr(MemoryHost, "apply_nodes", killed)
    with pytest.raises(Killed):
        create(azure, count=3)
    monkeypatch.undo()
    azure.reopen()
    azure.cloud.settle()
    assert azure.cloud.resources()[f"{azure.cluster_id}/agentPools/h100gpu"]["state"] == "Failed"
    assert len(azure.host.names("h100gpu")) == 1


def test_a_failed_pool_remains_until_the_next_request_and_can_be_deleted(tmp_path: Path) -> None:
    azure = platform(tmp_path, **{H100: 1})
    with pytest.raises(NotReady):
        create(azure, count=3)
    with_capacity(azure)
    calls = list(azure.host.calls)
    azure.cloud.settle()
    assert azure.host.calls == calls
    azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
    assert azure.host.names("h100gpu") == []


def test_subnet_that_autoscalers_have_filled_fails_the_next_pool(tmp_path: Path) -> None:
    azure = platform(tmp_path)
    azure.subnet("small", "10.100.9.0/28")
    small = azure.id("Microsoft.Network/virtualNetworks/vnet/subnets/small")
    create(azure, vnetSubnetID=small, enableAutoScaling=True, minCount=0, maxCount=20)
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 20)
    assert len(azure.host.names("h100gpu")) == 11
    with pytest.raises(NotReady, match="SubnetIsFull"):
        create(azure, agentPoolName="late", vnetSubnetID=small)


def test_a_cluster_that_azure_works_on_refuses_requests_until_it_is_done(tmp_path: Path) -> None:
    azure = platform(tmp_path)
    azure.options["busy"] = {"aks": 2}
    azure.reopen()
    for _ in range(2):
        with pytest.raises(Refused, match=r'Status=409 Code="OperationNotAllowed" .*Another operation \(Upgrading\)'):
            create(azure)
        azure.reopen()  # another process counts on
    create(azure)
    assert azure.host.names("h100gpu")


def test_work_on_one_pool_leaves_the_others_alone(tmp_path: Path) -> None:
    azure = platform(tmp_path)
    create(azure)
    azure.options["busy"] = {"H100GPU": 1}
    azure.reopen()
    create(azure, agentPoolName="other")
    with pytest.raises(Refused, match="OperationNotAllowed"):
        azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
    azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
