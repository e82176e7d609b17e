"""Capacity of pools as the program declares it."""

from __future__ import annotations

from physical_ai.catalog.aks import Role
from tests.unit.conftest import Simulate

STAND_IN = {
    "sku": "Standard_NC40ads_H100_v5",
    "driver": {"source": "operator"},
    "subnet": "10.40.3.0/26",
    "priority": "Regular",
    "scale": {"min": 0, "max": 2},
    "osDisk": {"type": "Managed", "sizeGb": 512},
    "capacity": {"platform": "h100"},
}
PAIR = {"pools": {"h100gpu": {"capacity": {"platform": "h100"}}, "h100reg": STAND_IN}}


def test_an_on_demand_pool_that_stands_in_changes_the_autoscaler_and_adds_its_order(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PAIR)
    (cluster,) = recording.of_type("ManagedCluster")
    assert cluster.inputs["autoScalerProfile"]["expander"] == "priority"
    order = recording.resource("ConfigMap", "cluster-autoscaler-priority-expander")
    assert "^aks-h100gpu-" in order.inputs["data"]["priorities"]
    for name in ("h100gpu", "h100reg"):
        assert recording.resource("AgentPool", name).inputs["nodeLabels"]["physical-ai/platform"] == "h100"


def test_without_one_the_autoscaler_is_as_before(simulate: Simulate) -> None:
    (cluster,) = simulate("dev-westus2").of_type("ManagedCluster")
    assert "expander" not in cluster.inputs["autoScalerProfile"]


A100 = {
    "sku": "Standard_NC24ads_A100_v4",
    "driver": {"source": "operator"},
    "subnet": "10.40.3.0/26",
    "priority": "Regular",
    "scale": {"min": 0, "max": 4},
    "zones": ["1", "2"],
    "capacity": {"reservation": {"machines": 2}},
}
GROUP = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/Microsoft.Compute"
    "/capacityReservationGroups/gpus"
)


def test_a_pool_follows_its_reservations_and_the_right_on_them(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"pools": {"a100": A100}})
    (group,) = recording.of_type("CapacityReservationGroup")
    assert group.inputs["zones"] == ["1", "2"]
    reserved = recording.of_type("CapacityReservation")
    assert [(each.inputs["zones"], each.inputs["sku"]) for each in reserved] == [
        ([zone], {"name": "Standard_NC24ads_A100_v4", "capacity": 2}) for zone in ("1", "2")
    ]
    role = recording.resource("RoleAssignment", "physical-ai-reservations-a100-deploy")
    assert role.inputs["roleDefinitionId"].endswith(Role.CONTRIBUTOR)
    pool = recording.resource("AgentPool", "a100")
    assert pool.inputs["capacityReservationGroupID"] == role.inputs["scope"]
    assert {role.urn, *(each.urn for each in reserved)} <= set(pool.options.depends_on)
    assert "capacityReservationGroupID" in pool.options.replace_on_changes


def test_a_group_of_two_pools_has_one_role_of_the_cluster(simulate: Simulate) -> None:
    given = {**A100, "zones": [], "capacity": {"reservation": {"group": GROUP}}}
    pools = {"a100": given, "a100b": {**given, "subnet": "10.40.4.0/26"}}
    recording = simulate("dev-westus2", {"pools": pools})
    assert recording.of_type("CapacityReservation") == recording.of_type("CapacityReservationGroup") == []
    assert [each.inputs["scope"] for each in recording.of_type("RoleAssignment")].count(GROUP) == 1
    for name in pools:
        assert recording.resource("AgentPool", name).inputs["capacityReservationGroupID"] == GROUP


def test_without_a_reservation_a_pool_has_no_trace_of_one(simulate: Simulate) -> None:
    pool = simulate("dev-westus2").resource("AgentPool", "h100gpu")
    assert "capacityReservationGroupID" not in pool.inputs
    assert "capacityReservationGroupID" not in pool.options.replace_on_changes


def test_warm_nodes_follow_the_scheduler_that_takes_them_for_work(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"pools": {"h100gpu": {"capacity": {"warm": 1}}}})
    queue = recording.resource("Queue", "physical-ai-warm")
    (scheduler,) = (each for each in recording.of_type("Release") if each.inputs["name"] == "kai-scheduler")
    assert scheduler.urn in queue.options.depends_on
    deployment = recording.resource("Deployment", "warm-h100gpu")
    assert queue.urn in deployment.options.depends_on
    assert not deployment.options.protect
