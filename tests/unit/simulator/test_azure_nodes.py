"""Nodes as AKS registers them: names, labels, taints, provider ids, capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.catalog.aks import reserved_mib, reserved_millis
from simulator.azure.nodes import base36, free_addresses, taint
from simulator.azure.puts import nodes_of
from tests.support.azure_fakes import SPOT, Azure


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def nodes(azure: Azure, **change: Any) -> list[Mapping[str, Any]]:
    azure.pool(**change)
    return azure.host.nodes[(azure.cluster_id, change.get("agentPoolName", "h100gpu"))]


def test_labels_are_those_aks_sets_and_the_pools_own(azure: Azure) -> None:
    (node,) = nodes(azure)
    labels = node["metadata"]["labels"]
    assert (
        labels.items()
        >= {
            "agentpool": "h100gpu",
            "kubernetes.azure.com/agentpool": "h100gpu",
            "kubernetes.azure.com/cluster": "MC_rg-dev_aks_westus2",
            "kubernetes.azure.com/mode": "user",
            "kubernetes.azure.com/os-sku": "Ubuntu",
            "kubernetes.azure.com/os-sku-effective": "Ubuntu2404",
            "kubernetes.azure.com/node-image-version": "AKSUbuntu-2404gen2containerd-202611.05.0",
            "kubernetes.azure.com/storageprofile": "managed",
            "kubernetes.azure.com/accelerator": "nvidia",
            "accelerator": "nvidia",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
            "kubernetes.io/hostname": node["metadata"]["name"],
            "node.kubernetes.io/instance-type": "Standard_NC40ads_H100_v5",
            "topology.kubernetes.io/region": "westus2",
            "topology.kubernetes.io/zone": "0",
            "physical-ai/gpu-driver": "operator",
        }.items()
    )
    assert not any("spot" in value for value in labels.values())
    assert all(len(value) <= 63 for value in labels.values())
    annotations = node["metadata"]["annotations"]
    assert annotations["kwok.x-k8s.io/node"] == "fake"
    assert annotations["simulator.physical-ai/physical-host"].isalnum()


def test_nodes_carry_exactly_the_declared_taints_and_no_gpu_capacity(azure: Azure) -> None:
    (node,) = nodes(azure)
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert not any(name.startswith("nvidia.com/") for name in node["status"]["capacity"])
    assert "conditions" not in node["status"]


def test_spot_nodes_are_labelled_and_tainted_even_when_the_pool_does_not_set_it(azure: Azure) -> None:
    for name, change in (("bare", {"scaleSetPriority": "Spot"}), ("said", SPOT)):
        (node,) = nodes(azure, agentPoolName=name, **change)
        labels = node["metadata"]["labels"]
        assert labels["kubernetes.azure.com/scalesetpriority"] == labels["kubernetes.azure.com/priority"] == "spot"
        assert [t["key"] for t in node["spec"]["taints"]] == [
            "nvidia.com/gpu",
            "kubernetes.azure.com/scalesetpriority",
        ]


def test_cpu_pool_has_no_accelerator_label(azure: Azure) -> None:
    plain: dict[str, Any] = {"vmSize": "Standard_D4ds_v5", "nodeTaints": [], "gpuProfile": None, "osDiskSizeGB": 64}
    (node,) = nodes(azure, agentPoolName="cpu", **plain)
    assert "accelerator" not in node["metadata"]["labels"]
    assert node["spec"]["taints"] == []


def test_zones_take_turns(azure: Azure) -> None:
    found = nodes(azure, count=5, availabilityZones=["3", "1"])
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in found]
    assert zones == ["westus2-1", "westus2-3", "westus2-1", "westus2-3", "westus2-1"]


def test_names_count_in_base_36_and_provider_ids_name_the_instance(azure: Azure) -> None:
    found = nodes(azure, count=40)
    stem = found[0]["metadata"]["name"].removesuffix("000000")
    assert stem.startswith("aks-h100gpu-")
    assert len(stem.split("-")[2]) == 8
    assert found[10]["metadata"]["name"] == f"{stem}00000a"
    assert found[36]["metadata"]["name"] == f"{stem}000010"
    assert found[36]["spec"]["providerID"] == (
        f"azure:///subscriptions/{azure.cloud.directory.subscription}/resourceGroups/mc_rg-dev_aks_westus2/providers"
        f"/Microsoft.Compute/virtualMachineScaleSets/{stem}/virtualMachines/36"
    )


def test_capacity_is_the_sizes_and_allocatable_what_aks_leaves(azure: Azure) -> None:
    (node,) = nodes(azure)
    capacity, allocatable = node["status"]["capacity"], node["status"]["allocatable"]
    assert (capacity["cpu"], capacity["memory"], capacity["pods"]) == ("40", f"{320 * 1024 * 1024}Ki", "110")
    assert capacity["ephemeral-storage"] == f"{256 * 1024 * 1024}Ki"
    assert allocatable["cpu"] == "39500m"
    assert allocatable["memory"] == f"{320 * 1024 * 1024 - (20 * 110 + 50 + 100) * 1024}Ki"
    assert int(allocatable["ephemeral-storage"]) == 256 * 1024**3 * 9 // 10


@pytest.mark.parametrize(("cores", "millis"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)])
def test_reserved_cpu_is_the_documented_table(cores: int, millis: int) -> None:
    assert reserved_millis(cores) == millis


def test_reserved_memory_is_at_most_a_quarter_beside_the_eviction_floor() -> None:
    assert reserved_mib(8, 250) == 2 * 1024 + 100


@pytest.mark.parametrize(
    ("change", "kernel", "image"),
    [
        ({}, "6.8.0", "AKSUbuntu-2404gen2"),
        ({"osSKU": "Ubuntu2204"}, "5.15.0", "AKSUbuntu-2204gen2"),
        ({"osSKU": "AzureLinux"}, "6.6", "AKSAzureLinux"),
    ],
)
def test_operating_system_follows_the_sku(azure: Azure, change: dict[str, Any], kernel: str, image: str) -> None:
    (node,) = nodes(azure, agentPoolName="os", **change)
    assert node["status"]["nodeInfo"]["kernelVersion"].startswith(kernel)
    assert node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"].startswith(image)


A10 = "Standard_NV36ads_A10_v5"


def test_ephemeral_disk_without_a_size_takes_the_local_disk(azure: Azure) -> None:
    (node,) = nodes(azure, agentPoolName="eph", osDiskType="Ephemeral", osDiskSizeGB=None, vmSize=A10)
    assert node["status"]["capacity"]["ephemeral-storage"] == f"{1440 * 1024 * 1024}Ki"
    assert node["metadata"]["labels"]["storageprofile"] == "ephemeral"


def test_addresses_skip_what_azure_keeps_and_what_is_taken() -> None:
    assert free_addresses("10.0.0.0/29", ["10.0.0.5"], 9) == ["10.0.0.4", "10.0.0.6"]


def test_taints_with_and_without_a_value() -> None:
    assert taint("a/b=c:NoExecute") == {"key": "a/b", "value": "c", "effect": "NoExecute"}
    assert taint("a/b:NoSchedule") == {"key": "a/b", "effect": "NoSchedule"}
    assert base36(35) == "00000z"


def test_a_label_of_a_pool_made_before_never_hides_what_aks_sets(azure: Azure) -> None:
    azure.pool()
    pool = azure.cloud.azure().get(f"{azure.cluster_id}/agentPools/h100gpu")
    assert pool is not None
    pool.inputs["nodeLabels"] = {"agentpool": "mine", "kubernetes.azure.com/mode": "system", "team": "robots"}
    (node,) = nodes_of(replace(pool), azure.cloud.azure())
    labels = node["metadata"]["labels"]
    assert (labels["agentpool"], labels["kubernetes.azure.com/mode"]) == ("h100gpu", "user")
    assert labels["team"] == "robots"


def test_the_node_shows_what_aks_has_put_on_its_host(azure: Azure) -> None:
    (bare,) = nodes(azure, agentPoolName="bare")
    (driven,) = nodes(azure, agentPoolName="driven", gpuProfile={"driver": "Install"})
    (signed,) = nodes(azure, agentPoolName="signed", securityProfile={"enableSecureBoot": True})
    reported = [
        {key for key in node["metadata"]["annotations"] if key.startswith("simulator.")}
        - {"simulator.physical-ai/physical-host"}
        for node in (bare, driven, signed)
    ]
    assert reported == [set(), {"simulator.physical-ai/host-driver"}, {"simulator.physical-ai/secure-boot"}]


def test_the_runtime_is_the_catalogues(azure: Azure) -> None:
    (node,) = nodes(azure)
    version = catalog.node_images()["Ubuntu 24.04"].containerd
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"] == f"containerd://{version}"
