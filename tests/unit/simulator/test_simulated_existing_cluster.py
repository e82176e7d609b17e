"""The nodes of a cluster that exists already, and what is said of one that a stack has left."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from physical_ai.repository import ROOT
from physical_ai.settings import Settings, load_config
from simulator import leftovers
from simulator.acceptance.live import machine
from simulator.amd.model import gpu_of
from simulator.cluster.names import HOST_DRIVER, MACHINE
from simulator.faults.injection import gpus_of
from simulator.gpu.hardware import of_node
from simulator.gpu.node_state import NodeState
from simulator.inventory import differences
from simulator.servers import CONTROL_PLANE, nodes
from workbench.cli.existing_cluster_input import existing_cluster_input

LAB = ROOT / "stacks" / "Pulumi.onprem-lab.yaml"

B200 = {
    "sku": "hgx-b200",
    "nodeSelector": {"example.com/server": "hgx-b200"},
    "driver": {"source": "host"},
    "scale": {"count": 1},
}


def lab(**changes: dict[str, Any]) -> Settings:
    """The stack, some of whose sections have other values."""
    config: dict[str, Any] = yaml.safe_load(LAB.read_text())["config"]
    given = {key.removeprefix("physical-ai:"): value for key, value in config.items()}
    for section, values in changes.items():
        given[section] = {**given[section], **values}
    return load_config("onprem-lab", given).settings


def by_name(settings: Settings) -> dict[str, dict[str, Any]]:
    existing = existing_cluster_input(settings)
    assert existing is not None
    return {node["metadata"]["name"]: node for node in nodes(existing, "v1.36.3")}


def test_each_class_has_its_servers_and_nothing_of_the_stack() -> None:
    found = by_name(lab())
    assert {name: node["metadata"]["annotations"][MACHINE] for name, node in found.items()} == {
        **{f"cpu-{index}": "cpu-server" for index in (1, 2, 3)},
        "b200-1": "hgx-b200",
        **{f"rtxpro-{index}": "rtx-pro-server" for index in (1, 2)},
    }
    for node in found.values():
        assert "agentpool" not in node["metadata"]["labels"]
        assert not any(key.startswith(("kubernetes.azure.com/", "nvidia.com/")) for key in node["metadata"]["labels"])
    assert found["cpu-1"]["spec"]["taints"] == [{"key": CONTROL_PLANE, "effect": "NoSchedule"}]
    assert found["b200-1"]["spec"] == {}


def test_the_servers_have_24_gpus() -> None:
    hardware = {name: of_node(node) for name, node in by_name(lab()).items()}
    assert {name: each.gpus for name, each in hardware.items() if each is not None} == {
        "b200-1": 8,
        "rtxpro-1": 8,
        "rtxpro-2": 8,
    }
    b200 = hardware["b200-1"]
    assert b200 is not None
    assert (b200.product, b200.memory_mib, b200.vgpu) == ("NVIDIA-B200", 180 * 1024, False)


def test_a_driver_on_the_host_is_there_before_the_stack() -> None:
    found = by_name(lab(pools={"b200": B200}))
    assert HOST_DRIVER in found["b200-1"]["metadata"]["annotations"]
    assert HOST_DRIVER not in found["rtxpro-1"]["metadata"]["annotations"]


def test_control_planes_are_there_where_no_class_has_them() -> None:
    found = by_name(lab(cpuPool={"nodeSelector": {"example.com/server": "services"}, "tolerate": []}))
    planes = [node for node in found.values() if CONTROL_PLANE in node["metadata"]["labels"]]
    assert len(planes) == 3
    assert all(node["spec"]["taints"][0]["key"] == CONTROL_PLANE for node in planes)


def test_differences_name_what_was_added_removed_and_changed() -> None:
    before = {"pods/a/x": {"spec": {"n": 1}}, "pods/a/y": {}}
    after = {"pods/a/x": {"spec": {"n": 2}}, "pods/a/z": {}}
    assert differences(before, after) == ["added pods/a/z", "removed pods/a/y", "changed pods/a/x: spec.n was 1, is 2"]
    assert differences(before, before) == []


@pytest.mark.parametrize(
    "line",
    [
        "added namespaces/gpu-operator",
        "removed nodes/b200-1",
        "changed nodes/b200-1: metadata.labels.agentpool was None, is 'b200'",
        "changed nodes/b200-1: metadata.labels.nvidia.com/gpu.present was 'true', is None",
        "changed nodes/b200-1: status.allocatable.nvidia.com/gpu was None, is '8'",
        "added scheduling.run.ai/queues/theirs",
        "changed nodes/b200-1: spec.taints was None, is [{'effect': 'NoExecute', 'key': 'nvidia.com/gpu'}]",
    ],
)
def test_what_the_stack_has_left_is_not_excused(line: str) -> None:
    assert leftovers.by_reason([line]) == ({}, [line])


def test_what_charts_and_operators_leave_has_a_reason() -> None:
    namespace = "added namespaces/kai-resource-reservation"
    assert leftovers.by_reason([namespace, f"{namespace}2"]) == ({leftovers.RESERVATIONS: 1}, [f"{namespace}2"])
    kind = "added apiextensions.k8s.io/customresourcedefinitions/clusterpolicies.nvidia.com"
    label = "changed nodes/b200-1: metadata.labels.nvidia.com/gpu.present was None, is 'true'"
    assert leftovers.by_reason([kind, label]) == ({leftovers.KINDS: 1, leftovers.LABELS: 1}, [])
    tainted = {"spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}}
    (taint,) = differences({"nodes/b200-1": {"spec": {}}}, {"nodes/b200-1": tainted})
    assert leftovers.by_reason([taint]) == ({leftovers.TAINT: 1}, [])


def test_every_part_of_the_simulator_knows_a_server_by_its_machine() -> None:
    """Nodes of a cluster without a cloud have no instance type."""
    found = by_name(lab())
    assert {gpus_of(found[each]) for each in ("b200-1", "rtxpro-1")} == {8}
    assert gpus_of(found["cpu-1"]) == 0
    node = found["b200-1"]
    hardware = of_node(node)
    assert hardware is not None
    container = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    seen = machine(container, node, NodeState("v26.7.1", hardware))
    assert (seen.size.name, len(seen.gpus)) == ("hgx-b200", 4)


def test_amd_s_gpus_of_a_node_are_found_by_its_machine() -> None:
    """The catalogue has no server with them yet."""
    size = "Standard_ND96isr_MI300X_v5"
    assert gpu_of(by_name(lab())["b200-1"]) is None
    node = {"metadata": {"name": "a", "annotations": {MACHINE: size}}}
    gpu = gpu_of(node)
    assert gpu is not None
    assert gpu.count == 8
