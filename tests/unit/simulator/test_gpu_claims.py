"""The model of the DRA driver's plugin: it publishes GPUs once the node has its driver, and as long as it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from physical_ai.catalog import vm_size
from simulator.gpu import node
from simulator.gpu.claims import resource_slice, semantic
from simulator.gpu.dra_names import CONTAINER_ROOT, HOST_ROOT
from simulator.gpu.hardware import of_size
from simulator.gpu.node_state import Host, NodeState

NODE: dict[str, Any] = {"metadata": {"name": "aks-h100gpu-0", "uid": "1"}}
DRIVER = Host(driver="580.105.08")


def daemonset(root: str = HOST_ROOT) -> dict[str, Any]:
    env = [{"name": "NVIDIA_DRIVER_ROOT", "value": root}]
    return {
        "metadata": {"name": "dra-driver-nvidia-gpu-kubelet-plugin", "labels": {}},
        "spec": {
            "template": {
                "spec": {
                    "initContainers": [{"name": "init-container", "image": "image:1", "env": env}],
                    "containers": [{"name": "gpus", "image": "image:1", "env": env}],
                }
            }
        },
    }


def state(size: str = "Standard_NC40ads_H100_v5", host: Host = DRIVER) -> NodeState:
    hardware = of_size(vm_size(size))
    assert hardware is not None
    return NodeState("v26.7.0", hardware, host=host)


def with_plugin(given: NodeState, root: str = HOST_ROOT) -> NodeState:
    return node.step(given, node.PodAdded(daemonset(root)))


def plugin_phase(given: NodeState) -> tuple[str, str]:
    [pod] = given.pods.values()
    return pod.phase, pod.message


def test_it_waits_for_the_driver_below_its_root() -> None:
    waiting = with_plugin(state(host=Host()))
    assert plugin_phase(waiting)[0] == "Init:0/1"
    assert "not found under /: has the NVIDIA GPU driver been set up" in plugin_phase(waiting)[1]
    assert resource_slice(NODE, waiting, 1) is None
    published = node.step(waiting, node.HostChanged(DRIVER))
    assert plugin_phase(published)[0] == "Running"
    assert published.claimable == 1


def test_a_wrong_root_hides_the_driver() -> None:
    assert plugin_phase(with_plugin(state(), CONTAINER_ROOT))[0] == "Init:0/1"


def test_the_slice_describes_every_gpu() -> None:
    found = resource_slice(NODE, with_plugin(state("Standard_NC80adis_H100_v5")), 3)
    assert found is not None
    spec = found["spec"]
    assert (spec["driver"], spec["nodeName"], spec["pool"]["generation"]) == ("gpu.nvidia.com", "aks-h100gpu-0", 3)
    assert [each["name"] for each in spec["devices"]] == ["gpu-0", "gpu-1"]
    attributes = spec["devices"][0]["attributes"]
    assert attributes["architecture"] == {"string": "Hopper"}
    assert attributes["productName"] == {"string": "NVIDIA H100 NVL"}
    assert attributes["driverVersion"] == {"version": "580.105.8"}
    assert len({each["attributes"]["uuid"]["string"] for each in spec["devices"]}) == 2
    assert found["metadata"]["ownerReferences"][0]["kind"] == "Node"


@pytest.mark.parametrize(
    "event",
    [node.PodRemoved("dra-driver-nvidia-gpu-kubelet-plugin"), node.Rebooted(loads=False)],
    ids=["removed", "started again without a driver"],
)
def test_nothing_is_published_without_the_plugin(event: node.Event) -> None:
    published = with_plugin(state())
    assert published.claimable == 1
    assert node.step(published, event).claimable == 0


def test_a_gpu_that_no_source_describes_is_not_published() -> None:
    given = state()
    strange = replace(given, hardware=replace(given.hardware, product="NVIDIA-NEW"))
    assert "knows no description" in plugin_phase(with_plugin(strange))[1]


@pytest.mark.parametrize(("given", "found"), [("580.105.08", "580.105.8"), ("570.237", "570.237.0"), ("", "0.0.0")])
def test_driver_versions_are_semantic(given: str, found: str) -> None:
    assert semantic(given) == found
