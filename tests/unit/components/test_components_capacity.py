"""Capacity of pools as the program declares it."""

from __future__ import annotations

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
