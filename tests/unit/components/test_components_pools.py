"""Node pools: what each setting sends to ARM, and which changes replace a pool."""

from __future__ import annotations

from typing import Any

import pytest

from components.aks.agent_pool import ignored_changes, node_pool_properties, os_disk_gb
from physical_ai.settings import NodePool, OsDisk
from physical_ai.settings.facts.pools import IMMUTABLE_POOL_PROPERTIES
from tests.unit.components.test_components_gpu_operator import MIG
from tests.unit.conftest import Simulate

KUBELET = {"topologyManagerPolicy": "restricted", "cpuManagerPolicy": "static"}
AUTOSCALED = {"count": None, "min": 0, "max": 4, "initial": 1}
FIXED = {"count": 3, "min": None, "max": None, "initial": None}
SPOT = {"pools": {"h100gpu": {"priority": "Spot", "spot": {"maxPrice": 2.5}, "scale": AUTOSCALED}}}
REGULAR = {
    "pools": {
        "h100gpu": {"priority": "Regular", "driver": {"source": "operator"}, "scale": FIXED, "kubelet": KUBELET},
        "rtxprogpu": {"priority": "Regular", "driver": {"source": "grid"}},
    }
}
AKS_DRIVER = {"pools": {"rtxprogpu": {"driver": {"source": "aks"}, "priority": "Regular"}}}
SIGNED = {
    "gpuOperator": {"driver": {"version": "580", "precompiled": True}},
    "pools": {"h100gpu": {"secureBoot": True}},
    "cluster": {"kubernetesVersion": "1.35"},
}
"""Settings that do not affect each other are in one run of the program."""


def cpu_like(**changes: Any) -> NodePool:
    return NodePool.model_validate({"sku": "Standard_D8ds_v5", "scale": {"count": 2}, **changes})


def test_spot_pool_sends_no_upgrade_settings_and_declares_what_aks_adds(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", SPOT).resource("AgentPool", "h100gpu").inputs
    assert "upgradeSettings" not in pool
    assert pool["scaleSetPriority"] == "Spot"
    assert pool["scaleSetEvictionPolicy"] == "Delete"
    assert pool["spotMaxPrice"] == 2.5
    assert pool["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert "kubernetes.azure.com/scalesetpriority=spot:NoSchedule" in pool["nodeTaints"]


def test_regular_pool_sends_upgrade_settings_and_nothing_of_spot(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", REGULAR).resource("AgentPool", "h100gpu").inputs
    assert set(pool["upgradeSettings"]) == {"maxSurge", "maxUnavailable", "drainTimeoutInMinutes"}
    assert pool["scaleSetPriority"] == "Regular"
    assert not {"scaleSetEvictionPolicy", "spotMaxPrice"} & set(pool)


def test_type_is_always_sent(simulate: Simulate, azure_stack_name: str) -> None:
    pools = simulate(azure_stack_name).of_type("AgentPool")
    assert {pool.inputs["type"] for pool in pools} == {"VirtualMachineScaleSets"}


@pytest.mark.parametrize(
    ("source", "driver", "labels"),
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
def test_driver_source_decides_profile_and_labels(
    simulate: Simulate, source: str, driver: str, labels: dict[str, str]
) -> None:
    name = "h100gpu" if source == "operator" else "rtxprogpu"
    pool = simulate("dev-westus2", AKS_DRIVER if source == "aks" else REGULAR).resource("AgentPool", name).inputs
    assert pool["gpuProfile"] == {"driver": driver}
    about_drivers = {key: value for key, value in pool["nodeLabels"].items() if "driver" in key}
    assert about_drivers == labels
    assert pool["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule"]


def test_pool_names_its_device_plugin_configuration_and_keeps_mig_manager_off_vgpus(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    grid, operator = (recording.resource("AgentPool", name).inputs for name in ("rtxprogpu", "h100gpu"))
    assert grid["nodeLabels"]["nvidia.com/device-plugin.config"] == "rtxprogpu"
    assert grid["nodeLabels"]["nvidia.com/gpu.deploy.mig-manager"] == "false"
    assert operator["nodeLabels"]["nvidia.com/device-plugin.config"] == "h100gpu"
    assert "nvidia.com/gpu.deploy.mig-manager" not in operator["nodeLabels"]


def test_pool_that_is_cut_by_mig_names_its_layout(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", MIG).resource("AgentPool", "h100gpu")
    assert pool.inputs["nodeLabels"]["nvidia.com/mig.config"] == "h100gpu"


def test_secure_boot_is_set_explicitly_and_grid_gets_no_vtpm(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    grid, operator = (recording.resource("AgentPool", name).inputs for name in ("rtxprogpu", "h100gpu"))
    assert grid["securityProfile"] == {"enableSecureBoot": False, "enableVTPM": False}
    assert operator["securityProfile"] == {"enableSecureBoot": False}


def test_secure_boot_reaches_a_pool_with_signed_drivers(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", SIGNED).resource("AgentPool", "h100gpu")
    assert pool.inputs["securityProfile"] == {"enableSecureBoot": True}


def test_kubelets_align_by_numa_nodes_where_a_pool_asks_and_a_change_replaces_it(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", REGULAR)
    pool = stack.resource("AgentPool", "h100gpu")
    assert pool.inputs["kubeletConfig"] == KUBELET
    assert "kubeletConfig" in pool.options.replace_on_changes
    assert "kubeletConfig" not in stack.resource("AgentPool", "rtxprogpu").inputs


def test_autoscaled_pool_starts_at_its_initial_count_and_keeps_the_autoscalers(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", SPOT).resource("AgentPool", "h100gpu")
    wanted = {"count": 1, "minCount": 0, "maxCount": 4, "enableAutoScaling": True}
    assert {key: pool.inputs[key] for key in wanted} == wanted
    assert pool.options.ignore_changes == ("count",)


def test_fixed_pool_sends_its_count_on_every_change(simulate: Simulate) -> None:
    pool = simulate("dev-westus2", REGULAR).resource("AgentPool", "h100gpu")
    assert pool.inputs["count"] == 3
    assert pool.inputs["enableAutoScaling"] is False
    assert not {"minCount", "maxCount"} & set(pool.inputs)
    assert pool.options.ignore_changes == ()


def test_what_arm_cannot_change_replaces_the_pool_old_one_first(simulate: Simulate, azure_stack_name: str) -> None:
    for pool in simulate(azure_stack_name).of_type("AgentPool"):
        assert set(IMMUTABLE_POOL_PROPERTIES) <= set(pool.options.replace_on_changes)
        assert pool.options.delete_before_replace


def test_labels_taints_and_counts_change_in_place(simulate: Simulate) -> None:
    pool = simulate("dev-westus2").resource("AgentPool", "h100gpu")
    in_place = {"count", "nodeLabels", "nodeTaints", "minCount", "maxCount", "upgradeSettings", "tags"}
    assert not in_place & set(pool.options.replace_on_changes)


def test_each_gpu_pool_has_its_own_subnet_and_cpu_shares_the_systems(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    subnets = {
        pool.inputs["agentPoolName"]: pool.inputs["vnetSubnetID"].rpartition("/")[2]
        for pool in recording.of_type("AgentPool")
    }
    assert subnets == {"h100gpu": "snet-h100gpu", "rtxprogpu": "snet-rtxprogpu", "cpu": "snet-system"}


def test_pools_are_recreated_with_the_cluster_and_never_forgotten_with_it(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    cluster = recording.of_type("ManagedCluster")[0].urn
    ties = {(pool.options.replace_with, pool.options.deleted_with) for pool in recording.of_type("AgentPool")}
    assert ties == {((cluster,), "")}


def test_gpu_pool_waits_for_the_right_to_join_its_subnet(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    pool = recording.resource("AgentPool", "h100gpu")
    assert recording.resource("RoleAssignment", "physical-ai-identities-join-h100gpu").urn in pool.options.depends_on
    assert recording.hooked[pool.urn] == ("physical-ai-role-propagation",)


def test_a_refused_pool_or_cluster_gets_advice(simulate: Simulate, azure_stack_name: str) -> None:
    recording = simulate(azure_stack_name)
    for each in [*recording.of_type("AgentPool"), *recording.of_type("ManagedCluster")]:
        assert recording.hooked[each.urn] == ("physical-ai-role-propagation",)


def test_pools_follow_the_clusters_kubernetes_version(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", SIGNED)
    versions = {pool.inputs["orchestratorVersion"] for pool in recording.of_type("AgentPool")}
    assert versions == {"1.35"}
    assert recording.of_type("ManagedCluster")[0].inputs["kubernetesVersion"] == "1.35"


def test_zones_are_sent_only_where_some_are_set() -> None:
    assert node_pool_properties(cpu_like(zones=["1", "3"]), "1.36").get("availability_zones") == ["1", "3"]
    assert "availability_zones" not in node_pool_properties(cpu_like(), "1.36")


@pytest.mark.parametrize(
    ("disk", "gigabytes"),
    [
        (OsDisk(type="Managed"), 128),
        (OsDisk(type="Managed", size_gb=512), 512),
        (OsDisk(type="Ephemeral"), None),
        (OsDisk(type="Ephemeral", size_gb=256), 256),
    ],
)
def test_os_disk_size(disk: OsDisk, gigabytes: int | None) -> None:
    assert os_disk_gb(disk) == gigabytes


def test_ephemeral_disk_without_a_size_uses_the_complete_device() -> None:
    pool = cpu_like(osDisk={"type": "Ephemeral"})
    assert "os_disk_size_gb" not in node_pool_properties(pool, "1.36")


def test_ignored_path_names_the_inline_pool() -> None:
    autoscaled = cpu_like(scale={"min": 1, "max": 3})
    assert ignored_changes(autoscaled, "agentPoolProfiles[0].") == ["agentPoolProfiles[0].count"]
    assert ignored_changes(cpu_like(), "agentPoolProfiles[0].") == []
