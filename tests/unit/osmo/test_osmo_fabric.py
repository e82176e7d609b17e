"""Tasks that use InfiniBand: what their platform gives them, and what the topology file says."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from physical_ai.catalog.nccl_topology import topology
from physical_ai.planning.nccl_topology import topology_files
from physical_ai.planning.osmo_platforms import platform_template
from physical_ai.settings.facts.osmo import platforms
from tests.unit.settings.settings_faults import expect, faults_of
from tests.unit.settings.test_settings_fabric import stack

RDMA = "osmo.platforms.ndgpu.rdma=true"


def template(*assignments: str) -> dict[str, Any]:
    settings = stack(*assignments).settings
    item = next(each for each in platforms(settings) if each.pool == "ndgpu")
    return platform_template(settings, item)["spec"]


def test_tasks_use_infiniband_only_where_the_platform_says_so() -> None:
    (container,) = template()["containers"]
    assert set(container["resources"]["limits"]) == {"nvidia.com/gpu"}
    assert "volumes" not in template()
    assert topology_files(stack().settings) == {}


def test_tasks_get_adapters_variables_and_the_topology_of_their_node() -> None:
    spec = template(RDMA)
    (container,) = spec["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "{{USER_GPU}}", "rdma/shared_ib": "1"}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    folder, _, file = environment["NCCL_TOPO_FILE"].rpartition("/")
    assert container["volumeMounts"] == [{"name": "nccl-topology", "mountPath": folder, "readOnly": True}]
    assert set(topology_files(stack(RDMA).settings)) == {file}
    # Old advice, which NCCL decides better by itself.
    assert not {"NCCL_IB_GID_INDEX", "NCCL_CROSS_NIC", "NCCL_DEBUG"} & set(environment)


def test_with_sr_iov_a_task_has_an_adapter_for_each_of_its_gpus() -> None:
    (container,) = template(RDMA, "networkOperator.devicePlugin=sriov")["containers"]
    assert container["resources"]["limits"]["rdma/ib"] == "{{USER_GPU}}"


def test_a_platform_without_a_fabric_has_no_adapters_to_give() -> None:
    expect(faults_of("osmo.platforms.h100gpu.rdma=true"), "osmo.platforms.h100gpu.rdma", "no adapters", "fabric")


@pytest.mark.parametrize("size", ["Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5"])
def test_each_gpu_has_an_adapter_behind_its_own_switch(size: str) -> None:
    found = topology(size)
    assert found is not None
    system = ElementTree.fromstring(found.xml())  # noqa: S314 - our own text
    bridges = system.findall("cpu/pci")
    assert [len(cpu) for cpu in system] == [4, 4]
    assert [[each.get("class") for each in bridge] for bridge in bridges] == [["0x030200", "0x020700"]] * 8
    assert len({each.get("busid") for each in system.iter("pci")}) == 24
    assert topology("Standard_NC40ads_H100_v5") is None
