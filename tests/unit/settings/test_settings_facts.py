"""What follows from a pool: labels, taints, tolerations, driver profile."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pulumi_azure_native import containerservice

from physical_ai.settings import NodePool, Pool, load
from physical_ai.settings.facts import pools as facts
from physical_ai.settings.facts.node_labels import LABELS, pool_labels

BASE: dict[str, Any] = {"sku": "Standard_NC40ads_H100_v5", "scale": {"count": 2}, "subnet": "10.0.0.0/24"}

BY_DRIVER = {each.key for each in LABELS if each.by_driver}


def pool(source: str = "operator", **more: Any) -> Pool:
    return Pool.model_validate({**BASE, "driver": {"source": source}, **more})


@pytest.mark.parametrize(
    ("source", "profile", "labels"),
    [
        ("operator", "None", {"physical-ai/gpu-driver": "operator"}),
        ("grid", "None", {"physical-ai/gpu-driver": "grid", "nvidia.com/gpu.deploy.driver": "false"}),
        (
            "aks",
            "Install",
            {
                "physical-ai/gpu-driver": "aks",
                "nvidia.com/gpu.deploy.driver": "pre-installed",
                "nvidia.com/gpu-driver-upgrade.skip": "true",
            },
        ),
    ],
)
def test_the_driver_source_decides_profile_and_labels(source: str, profile: str, labels: dict[str, str]) -> None:
    assert facts.driver_facts(pool(source)).gpu_profile_driver == profile
    own = {key: value for key, value in pool_labels("a", pool(source)).items() if key in BY_DRIVER}
    assert own == labels
    assert pool_labels("a", pool(source, labels={"team": "x"})) == {"team": "x", **pool_labels("a", pool(source))}


def test_the_gpu_taint_has_a_value_and_is_declared_once() -> None:
    assert facts.node_taints(pool()) == ["nvidia.com/gpu=present:NoSchedule"]
    assert facts.node_taints(pool(taints=["nvidia.com/gpu=present:NoSchedule", "a=b:NoExecute"])) == [
        "nvidia.com/gpu=present:NoSchedule",
        "a=b:NoExecute",
    ]


def test_a_spot_pool_declares_what_aks_adds_and_sends_no_upgrade_settings() -> None:
    spot = pool(priority="Spot", upgrade={"maxSurge": "33%", "maxUnavailable": "0"})
    assert pool_labels("a", spot)["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert "kubernetes.azure.com/scalesetpriority=spot:NoSchedule" in facts.node_taints(spot)
    assert not facts.sends_upgrade_settings(spot)
    assert facts.surge_nodes(spot) == 0


def test_tolerations_match_each_taint_whatever_its_value() -> None:
    tainted = pool(priority="Spot", taints=["team=a:NoSchedule", "team=a:NoExecute"])
    assert facts.tolerations(tainted) == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Exists", "effect": "NoExecute"},
    ]


@pytest.mark.parametrize(("surge", "nodes"), [("3", 3), ("50%", 5), ("1%", 1), ("100%", 10)])
def test_surge_is_counted_in_nodes(surge: str, nodes: int) -> None:
    upgrade = {"maxSurge": surge, "maxUnavailable": "0"}
    assert facts.surge_nodes(pool(scale={"min": 0, "max": 10}, upgrade=upgrade)) == nodes


def test_gpus_per_node_come_from_the_size() -> None:
    assert facts.gpus_per_node(pool()) == 1
    assert facts.gpus_per_node(pool(sku="Standard_NC80adis_H100_v5")) == 2
    cpu = NodePool.model_validate({"sku": "Standard_D8ds_v5", "scale": {"count": 1}})
    assert facts.gpus_per_node(cpu) == 0
    assert facts.sends_upgrade_settings(cpu)


def test_immutable_properties_are_inputs_of_the_agent_pool() -> None:
    parameters = inspect.signature(containerservice.AgentPoolArgs.__init__).parameters
    inputs = {name.replace("_", "") for name in parameters}
    assert [name for name in facts.IMMUTABLE_POOL_PROPERTIES if name.lower() not in inputs] == []


def test_changing_immutable_settings_is_covered() -> None:
    covered = set(facts.IMMUTABLE_POOL_PROPERTIES)
    assert covered >= {
        "vmSize",
        "gpuProfile",
        "osDiskType",
        "osDiskSizeGB",
        "availabilityZones",
        "scaleSetPriority",
        "scaleSetEvictionPolicy",
        "spotMaxPrice",
        "maxPods",
        "vnetSubnetID",
    }
    assert covered.isdisjoint({"count", "minCount", "maxCount", "nodeLabels", "nodeTaints", "upgradeSettings", "tags"})


def test_an_autoscaled_pool_starts_with_its_initial_count() -> None:
    assert load("dev-westus2").settings.pools["h100gpu"].scale.initial_count == 1
    assert pool(scale={"min": 2, "max": 4}).scale.initial_count == 2
    assert pool(scale={"count": 5}).scale.initial_count == 5
