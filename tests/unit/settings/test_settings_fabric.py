"""InfiniBand in the settings: what is refused, what is doubtful, and the configuration of the Network Operator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parts.network_operator import names as catalog
from parts.network_operator.plan import FILE, RELEASE, network_operator_plan
from physical_ai.catalog.charts import pinned_versions
from physical_ai.repository import PARTS
from physical_ai.settings import Loaded, Overlay, load
from physical_ai.settings.facts.fabric import adapters, rdma_request, rdma_resources
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of, warned

POOL = "pools.ndgpu"
ND = (
    "{sku: Standard_ND96isr_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular, fabric:"
    " infiniband, scale: {count: 2}}"
)
WITH_FABRIC = (f"{POOL}={ND}", "networkOperator={}")


def stack(*assignments: str) -> Loaded:
    return load("dev-westus2", [Overlay.assign([*WITH_FABRIC, *assignments])])


def policy(*assignments: str) -> dict[str, Any]:
    return policy_of(stack(*assignments))


def policy_of(found: Loaded) -> dict[str, Any]:
    return dict(found.plan.parts["network_operator"].after[0]["spec"])


def test_a_pool_with_a_fabric_and_an_operator_is_accepted() -> None:
    assert not [each for each in stack().warnings if each.where.startswith((POOL, "networkOperator"))]
    assert "network_operator" in stack().plan.parts
    assert "network_operator" not in load("dev-westus2").plan.parts


@in_one_test(
    ("assignments", "path", "problem", "fix"),
    [
        (("pools.h100gpu.fabric=infiniband",), "pools.h100gpu.fabric", "has no InfiniBand", "Standard_ND96isr_H100_v5"),
        ((f"{POOL}={ND}",), f"{POOL}.fabric", "Network Operator is not installed", "networkOperator: {}"),
        ((*WITH_FABRIC, "networkOperator.devicePlugin=none"), "networkOperator.devicePlugin", "no Pod", "shared"),
        ((*WITH_FABRIC, f"{POOL}.zones=['1', '2']"), f"{POOL}.zones", "share no fabric", 'zones: ["1"]'),
        ((*WITH_FABRIC, f"{POOL}.scale={{count: 101}}"), f"{POOL}.scale", "at most 100", "another pool"),
        ((*WITH_FABRIC, f"{POOL}.driver.source=aks"), f"{POOL}.driver.source", "nvidia-peermem", "operator"),
        ((*WITH_FABRIC, f"{POOL}.osSku=AzureLinux"), f"{POOL}.osSku", "no OFED", "Ubuntu"),
        ((*WITH_FABRIC, f"{POOL}.secureBoot=true"), f"{POOL}.secureBoot", "Secure Boot", "ofedDriver: host"),
        (
            (*WITH_FABRIC, "gpuOperator.driverOwner=ClusterPolicy"),
            "gpuOperator.driverOwner",
            "would wait for an OFED driver",
            "NVIDIADriver",
        ),
    ],
)
def test_what_a_fabric_cannot_do_without_is_an_error(
    assignments: tuple[str, ...], path: str, problem: str, fix: str
) -> None:
    expect(faults_of(*assignments), path, problem, fix)


def test_adapters_that_no_pod_reaches_are_a_warning() -> None:
    found = warned(f"{POOL}={ND}", f"{POOL}.fabric=none")
    (warning,) = [each for each in found if each.where == f"{POOL}.fabric"]
    assert "use TCP over Ethernet" in warning.problem


def test_drivers_and_plugins_run_on_pools_with_a_fabric_alone() -> None:
    """Nodes with accelerated networking have cards of the same vendor, and would lose their network."""
    spec = policy()
    (term,) = spec["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {each["key"]: each["values"] for each in term["matchExpressions"]} == {
        "kubernetes.azure.com/agentpool": ["ndgpu"],
        catalog.NIC_LABEL: ["true"],
    }
    config = json.loads(spec["rdmaSharedDevicePlugin"]["config"])["configList"][0]
    assert config["selectors"] == {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


@pytest.mark.parametrize(
    ("kind", "parts", "resources", "request_"),
    [
        ("shared", {"ofedDriver", "rdmaSharedDevicePlugin"}, {"rdma/shared_ib": 63}, {"rdma/shared_ib": "1"}),
        ("sriov", {"ofedDriver", "sriovDevicePlugin"}, {"rdma/ib": 8}, {"rdma/ib": "4"}),
    ],
)
def test_the_device_plugin_decides_what_pods_request(
    kind: str, parts: set[str], resources: dict[str, int], request_: dict[str, str]
) -> None:
    chosen = f"networkOperator.devicePlugin={kind}"
    assert set(policy(chosen)) - {"nodeAffinity", "tolerations"} == parts
    settings = stack(chosen).settings
    assert rdma_resources(settings, settings.pools["ndgpu"]) == resources
    assert rdma_request(settings, settings.pools["ndgpu"], 4) == request_
    assert rdma_resources(settings, settings.pools["h100gpu"]) == {}
    assert [adapters(settings.pools[name]) for name in ("ndgpu", "h100gpu")] == [8, 0]


def test_without_a_fabric_the_operator_brings_networks_only() -> None:
    loaded = load("dev-westus2", [Overlay.assign(["networkOperator={secondaryNetwork: true, nvIpam: true}"])])
    assert set(policy_of(loaded)) == {"nodeAffinity", "tolerations", "secondaryNetwork", "nvIpam"}


@pytest.mark.parametrize("release", pinned_versions("network-operator"))
def test_every_release_has_its_driver_and_its_images(release: str) -> None:
    spec = policy(f"networkOperator.version={release}")
    assert spec["ofedDriver"]["version"] == catalog.ofed_driver(release)
    assert spec["rdmaSharedDevicePlugin"]["version"] == f"network-operator-{release}"


def test_the_gpu_driver_waits_for_the_network_driver_on_such_pools_alone() -> None:
    drivers = stack().plan.gpu.drivers
    assert drivers["ndgpu"].spec["rdma"] == {"enabled": True, "useHostMofed": False}
    assert not [name for name, each in drivers.items() if name != "ndgpu" and "rdma" in each.spec]
    host = stack("networkOperator.ofedDriver=host")
    assert host.plan.gpu.drivers["ndgpu"].spec["rdma"] == {"enabled": True, "useHostMofed": True}
    assert "ofedDriver" not in policy_of(host)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nfd: {enabled: true}", "The program sets nfd.enabled itself"),
        ("node-feature-discovery: {worker: {}}", "of two each removes the labels of the other"),
        ("deployCR: true", "deployCR"),
    ],
)
def test_a_second_node_feature_discovery_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "values" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    _, faults = network_operator_plan(stack().settings, tmp_path / "values")
    assert any(problem in f"{fault.where} {fault.problem}" and fault.is_error for fault in faults)


def test_the_chart_brings_no_node_feature_discovery() -> None:
    plan, faults = network_operator_plan(stack().settings, PARTS)
    assert plan is not None
    assert not faults
    assert plan.release(RELEASE).values["nfd"] == {"enabled": False}
