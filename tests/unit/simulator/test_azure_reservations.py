"""Capacity reservations of the simulated Azure: what it reserves, who gets the machines, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure.autoscaling import allocation_failure
from simulator.azure.errors import ArmError
from simulator.azure.state import Resource
from tests.support.azure_fakes import PLACE, Azure

A100, H100 = "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
FAMILY = "StandardNCADSA100v4Family"


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    """A cluster in a region with three A100 machines."""
    made = Azure(tmp_path / "azure.json", options={"capacity": {A100: 3}})
    made.platform()
    return made


def group(azure: Azure, name: str = "gpus", **more: Any) -> Resource:
    """A reservation group into which the cluster may deploy."""
    made = azure.put("CapacityReservationGroup", capacityReservationGroupName=name, location=PLACE, **more)
    plane = azure.cloud.azure().get(azure.id("Microsoft.ManagedIdentity/userAssignedIdentities/plane"))
    assert plane is not None
    number = 50 + len(list(azure.cloud.azure().of_kind("CapacityReservationGroup")))
    azure.assign(CONTRIBUTOR, plane.outputs["principalId"], made.id, number)
    return made


def reserve(azure: Azure, machines: int, name: str = "gpus", size: str = A100, **more: Any) -> Resource:
    given = {"capacityReservationGroupName": name, "capacityReservationName": f"{size}-{more.get('zones', ['0'])[0]}"}
    return azure.put("CapacityReservation", **given, location=PLACE, sku={"name": size, "capacity": machines}, **more)


def pool(azure: Azure, name: str, count: int = 0, **more: Any) -> Resource:
    bounds = {"enableAutoScaling": True, "minCount": 0, "maxCount": 5, "count": count}
    return azure.put("AgentPool", **azure.pool_inputs(agentPoolName=name, vmSize=A100, **{**bounds, **more}))


def nodes(azure: Azure, name: str, wanted: int) -> int:
    return azure.cloud.autoscale(azure.cluster_id, name, wanted)


def test_reserved_machines_are_there_for_the_group_and_for_nobody_else(azure: Azure) -> None:
    given = group(azure)
    reserve(azure, 2)
    pool(azure, "open")
    pool(azure, "kept", capacityReservationGroupID=given.id)
    assert nodes(azure, "open", 3) == 1
    assert nodes(azure, "kept", 2) == 2


def test_a_full_reservation_is_no_limit_and_no_promise(azure: Azure) -> None:
    """Beyond it the pool gets what nobody has, and then Azure's refusal."""
    given = group(azure)
    reserve(azure, 2)
    made = pool(azure, "kept", capacityReservationGroupID=given.id)
    assert nodes(azure, "kept", 3) == 3
    assert nodes(azure, "kept", 4) == 3
    assert "sufficient capacity" in allocation_failure(made.body["properties"])


def test_azure_reserves_no_more_than_it_has(azure: Azure) -> None:
    group(azure)
    pool(azure, "open", count=2)
    with pytest.raises(ArmError, match="sufficient capacity"):
        reserve(azure, 2)
    assert reserve(azure, 1).state == "Succeeded"
    assert nodes(azure, "open", 3) == 2


def test_more_is_reserved_in_place_and_fewer_end_no_machine(azure: Azure) -> None:
    given = group(azure)
    reserve(azure, 1)
    pool(azure, "kept", capacityReservationGroupID=given.id)
    assert nodes(azure, "kept", 2) == 2
    reserve(azure, 3)
    assert nodes(azure, "kept", 3) == 3
    reserve(azure, 1)
    assert nodes(azure, "kept", 3) == 3


def test_quota_is_taken_once_for_a_machine_and_its_reservation(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", options={"quota": {FAMILY: 72}})
    azure.platform()
    given = group(azure)
    reserve(azure, 2)
    pool(azure, "kept", capacityReservationGroupID=given.id)
    assert nodes(azure, "kept", 3) == 3
    with pytest.raises(ArmError, match="Insufficient"):
        nodes(azure, "kept", 4)
    pool(azure, "open")
    with pytest.raises(ArmError, match="Insufficient"):
        nodes(azure, "open", 1)
    with pytest.raises(ArmError, match="Insufficient"):
        reserve(azure, 4)
    assert nodes(azure, "kept", 3) == 3


def test_a_pool_needs_a_group_that_fits_and_the_right_to_use_it(azure: Azure) -> None:
    inputs = azure.pool_inputs(
        vmSize=A100, capacityReservationGroupID=azure.id("Microsoft.Compute/capacityReservationGroups/no")
    )
    assert azure.rules("AgentPool", inputs) == {"pool-crg-missing"}
    given = group(azure)
    inputs = azure.pool_inputs(vmSize=A100, capacityReservationGroupID=given.id)
    assert azure.rules("AgentPool", inputs) == {"pool-crg-match"}
    reserve(azure, 1)
    assert azure.rules("AgentPool", inputs) == set()
    assert azure.rules("AgentPool", {**inputs, "availabilityZones": ["1"]}) == {"pool-crg-match"}
    other = azure.put("CapacityReservationGroup", capacityReservationGroupName="other", location=PLACE)
    reserve(azure, 1, "other")
    assert azure.rules("AgentPool", {**inputs, "capacityReservationGroupID": other.id}) == {"pool-crg-perm"}


def test_a_zonal_pool_needs_a_reservation_in_each_of_its_zones(azure: Azure) -> None:
    given = group(azure, zones=["1", "2"])
    inputs = azure.pool_inputs(vmSize=A100, capacityReservationGroupID=given.id, availabilityZones=["1", "2"])
    reserve(azure, 1, zones=["1"])
    assert "pool-crg-match" in azure.rules("AgentPool", inputs)
    reserve(azure, 1, zones=["2"])
    assert "pool-crg-match" not in azure.rules("AgentPool", inputs)


def test_what_a_reservation_cannot_be(azure: Azure) -> None:
    group(azure, zones=["1"])

    def broken(**more: Any) -> set[str]:
        given = {
            "resourceGroupName": azure.pool_inputs()["resourceGroupName"],
            "capacityReservationGroupName": "gpus",
            "capacityReservationName": "new",
            "location": PLACE,
            "sku": {"name": A100, "capacity": 1},
            "zones": ["1"],
        }
        return azure.rules("CapacityReservation", {**given, **more})

    assert broken() == set()
    assert broken(zones=["2"]) == {"crg-zone"}
    assert broken(zones=[]) == {"crg-zone"}
    assert broken(sku={"name": H100, "capacity": 1}) == {"crg-size"}
    reserve(azure, 1, zones=["1"])
    assert broken() == {"crg-one"}
    with pytest.raises(ArmError, match="cannot be changed"):
        azure.put(
            "CapacityReservation",
            capacityReservationGroupName="gpus",
            capacityReservationName=f"{A100}-1",
            location=PLACE,
            sku={"name": "Standard_NC48ads_A100_v4", "capacity": 1},
            zones=["1"],
        )
    with pytest.raises(ArmError, match="only during its creation"):
        azure.put("CapacityReservationGroup", capacityReservationGroupName="gpus", location=PLACE, zones=["1", "2"])


def test_what_is_in_use_cannot_be_deleted(azure: Azure) -> None:
    given = group(azure)
    member = reserve(azure, 1)
    made = pool(azure, "kept", capacityReservationGroupID=given.id)
    with pytest.raises(ArmError, match="still has"):
        azure.cloud.delete(given.id)
    with pytest.raises(ArmError, match="Dissociate them first"):
        azure.cloud.delete(member.id)
    azure.cloud.delete(made.id)
    azure.cloud.delete(member.id)
    azure.cloud.delete(given.id)
    assert list(azure.cloud.azure().of_kind("CapacityReservationGroup")) == []


def test_of_a_pool_that_exists_the_group_cannot_change(azure: Azure) -> None:
    given = group(azure)
    reserve(azure, 1)
    pool(azure, "open")
    with pytest.raises(ArmError, match="capacityReservationGroupID"):
        pool(azure, "open", capacityReservationGroupID=given.id)
