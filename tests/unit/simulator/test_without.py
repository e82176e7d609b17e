"""Without what a feature needs in reality, it does not work in the simulator either: the operator's parts.

The parts of OSMO and KAI are in `tests/simulator/test_without.py`, on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simulator.gpu import node
from simulator.gpu.node_state import NodeState
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GRID, GpuModel, gpu_model

Json = dict[str, Any]
OFF: Json = {"enabled": False}
PLUGIN, TOOLKIT = "nvidia-device-plugin-daemonset", "nvidia-container-toolkit-daemonset"
VALIDATOR, EXPORTER = "nvidia-operator-validator", "nvidia-dcgm-exporter"


def new_node(made: GpuModel, **extra: Any) -> NodeState:
    made.join("n", h100(), **extra)
    made.wait()
    return made.nodes["n"]


def offers(state: NodeState) -> bool:
    return state.healthy_resources.get("nvidia.com/gpu", 0) > 0 and node.cuda_probe(state) == ""


def measures(state: NodeState) -> bool:
    return EXPORTER in state.pods and state.pods[EXPORTER].ready


def is_labeled(state: NodeState) -> bool:
    return "nvidia.com/gpu.product" in state.own_labels


def claimed(state: NodeState) -> bool:
    return state.claimable > 0


@pytest.mark.parametrize(
    ("without", "change", "feature"),
    [
        ("a device plugin", {"devicePlugin": OFF}, offers),
        ("a toolkit, of the operands that need its runtime", {"toolkit": OFF}, offers),
        ("a driver", {"driver": {**OFF, "useNvidiaDriverCRD": False}}, offers),
        ("an exporter", {"dcgmExporter": OFF}, measures),
        ("feature discovery", {"gfd": OFF}, is_labeled),
    ],
)
def test_without_a_part_of_the_operator_a_new_node_lacks_what_it_does(
    without: str, change: Json, feature: Callable[[NodeState], bool]
) -> None:
    assert feature(new_node(gpu_model())), "with it"
    assert not feature(new_node(gpu_model(**change))), without


def test_without_the_operator_nothing_is_made_of_a_new_node() -> None:
    made = gpu_model()
    made.state = made.state.__class__(release="v26.7.0", policy=None, drivers={})
    state = new_node(made)
    assert (dict(state.pods), offers(state)) == ({}, False)


def test_without_nfd_the_operator_does_not_know_a_node() -> None:
    state = new_node(gpu_model(), nfd=False)
    assert (dict(state.pods), offers(state)) == ({}, False)


def test_without_its_grid_driver_a_vgpu_is_not_offered_and_with_it_is() -> None:
    made = gpu_model()
    made.join("rtx", rtx_pro_6000())
    made.wait()
    assert not offers(made.nodes["rtx"])
    made.event("rtx", node.HostChanged(GRID))
    made.kick("rtx", TOOLKIT)
    made.kick("rtx", VALIDATOR)
    made.wait()
    assert offers(made.nodes["rtx"])


@pytest.mark.parametrize("daemonset", [PLUGIN, EXPORTER])
def test_what_a_pod_does_ends_with_it(daemonset: str) -> None:
    state = node.step(new_node(gpu_model()), node.PodRemoved(daemonset))
    assert not (offers if daemonset == PLUGIN else measures)(state)


def test_the_validator_is_asked_once_and_offers_nothing_itself() -> None:
    """Its absence keeps operands from starting, and those that run go on."""
    state = node.step(new_node(gpu_model()), node.PodRemoved(VALIDATOR))
    assert offers(state)
    restarted = node.step(state, node.PodRemoved(PLUGIN))
    assert not offers(restarted)
