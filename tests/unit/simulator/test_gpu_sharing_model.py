"""NFD's labels and the resources of shared GPUs, as the operator's model has them."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.gpu import nfd, sharing
from simulator.gpu.hardware import MIG_OFF, repartitioned
from simulator.gpu.labels import is_gpu_node
from simulator.gpu.sharing import Device, PluginFault
from tests.support.gpu_hardware import h100, rtx_pro_6000


def test_nfd_labels_system_kernel_and_gpu() -> None:
    node = {"status": {"nodeInfo": {"osImage": "Ubuntu 24.04.3 LTS", "kernelVersion": "6.8.0-1041-azure"}}}
    found = nfd.labels(node, rtx_pro_6000())
    assert is_gpu_node(found)
    assert found["feature.node.kubernetes.io/system-os_release.VERSION_ID"] == "24.04"
    assert found["feature.node.kubernetes.io/kernel-version.full"] == "6.8.0-1041-azure"
    assert not is_gpu_node(nfd.labels(node, None))


def test_nfd_labels_with_the_device_in_them_hide_the_gpu() -> None:
    found = nfd.labels({}, rtx_pro_6000(), ("vendor", "device"))
    assert "feature.node.kubernetes.io/pci-10de_2bb5.present" in found
    assert not is_gpu_node(found)


SLICED = {"sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}}

RENAMED = {
    "sharing": {"timeSlicing": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
}

MPS = {"sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}}


@pytest.mark.parametrize(
    ("gpus", "strategy", "config", "expected"),
    [
        ((MIG_OFF, MIG_OFF), "single", {}, {"nvidia.com/gpu": 2}),
        ((("1g.10gb",) * 7,), "single", {}, {"nvidia.com/gpu": 7}),
        (
            (("1g.10gb", "2g.20gb"), MIG_OFF),
            "mixed",
            {},
            {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-2g.20gb": 1},
        ),
        ((MIG_OFF,), "none", SLICED, {"nvidia.com/gpu": 4}),
        ((MIG_OFF,), "none", RENAMED, {"nvidia.com/gpu.shared": 4}),
        ((MIG_OFF,), "single", MPS, {"nvidia.com/gpu": 2}),
    ],
)
def test_resources_follow_strategy_and_sharing(
    gpus: Any, strategy: str, config: dict[str, Any], expected: dict[str, int]
) -> None:
    assert sharing.shared(sharing.devices(gpus, strategy), sharing.sharing(config)) == expected


@pytest.mark.parametrize("gpus", [((),), (("1g.10gb",), MIG_OFF), (("1g.10gb", "2g.20gb"),)])
def test_strategy_single_refuses_gpus_that_are_not_alike(gpus: Any) -> None:
    with pytest.raises(PluginFault):
        sharing.devices(gpus, "single")


def test_mps_refuses_mig_devices() -> None:
    with pytest.raises(PluginFault, match="MPS is not supported for MIG"):
        sharing.shared(sharing.devices((("1g.10gb",),), "single"), sharing.sharing(MPS))


def test_only_a_full_gpu_can_be_partitioned() -> None:
    assert repartitioned(h100(), "all-7g.94gb") == (("7g.94gb",),)
    assert repartitioned(h100(), "all-9g") is None
    assert repartitioned(rtx_pro_6000(), "all-disabled") is None


SHARED = "nvidia.com/gpu.shared"
GPUS = [Device("nvidia.com/gpu", f"GPU-{index}") for index in range(2)]
SINGLE = [Device("nvidia.com/gpu", f"MIG-{gpu}-{index}", True) for gpu in range(2) for index in range(7)]
MIXED = [
    *(Device("nvidia.com/mig-1g.12gb", f"MIG-0-{index}", True) for index in range(4)),
    Device("nvidia.com/mig-3g.47gb", "MIG-0-4", True),
]


@pytest.mark.parametrize(
    ("given", "registered", "renames", "left", "open_gpus"),
    [
        (GPUS, {"nvidia.com/gpu": 2}, {}, {"nvidia.com/gpu": 1}, [1]),
        (GPUS, {"nvidia.com/gpu": 8}, {}, {"nvidia.com/gpu": 7}, [0, 1]),
        (
            GPUS,
            {"nvidia.com/gpu.shared": 8},
            {"nvidia.com/gpu": "nvidia.com/gpu.shared"},
            {"nvidia.com/gpu.shared": 7},
            [0, 1],
        ),
        (SINGLE, {"nvidia.com/gpu": 14}, {}, {"nvidia.com/gpu": 13}, [0, 1]),
        (
            MIXED,
            {"nvidia.com/mig-1g.12gb": 4, "nvidia.com/mig-3g.47gb": 1},
            {},
            {"nvidia.com/mig-1g.12gb": 3, "nvidia.com/mig-3g.47gb": 0},
            [0],
        ),
    ],
)
def test_a_critical_xid_takes_one_device_of_a_gpu_away_and_pods_still_land_on_the_others(
    given: list[Device],
    registered: dict[str, int],
    renames: dict[str, str],
    left: dict[str, int],
    open_gpus: list[int],
) -> None:
    """NVIDIA/k8s-device-plugin#1929."""
    struck = frozenset({0})
    assert sharing.healthy(given, registered, renames, struck) == left
    assert sharing.open_gpus(given, registered, renames, struck) == open_gpus
    assert sharing.healthy(given, registered, renames, frozenset()) == registered
