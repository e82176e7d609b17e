"""What a reboot, Secure Boot and a changed configuration do to the gates of a GPU node."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.faults.record import ANNOTATION, NO_FAULTS, Injected, annotation, node_faults
from simulator.gpu import node
from simulator.gpu.node_state import Host
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GRID, GpuModel, gpu_model, h100_driver

TOOLKIT = "nvidia-container-toolkit-daemonset"

VALIDATOR = "nvidia-operator-validator"

PLUGIN = "nvidia-device-plugin-daemonset"


def with_h100(**changes: Any) -> GpuModel:
    """A cluster whose H100 node works."""
    made = gpu_model(**changes)
    made.join("h100-0", h100())
    made.wait()
    return made


NRI = {"enabled": True, "nriPluginEnabled": True}


def test_reboot_rebuilds_the_operators_driver_and_needs_the_hosts_modules() -> None:
    made = with_h100()
    made.join("rtx-0", rtx_pro_6000(), host=GRID)
    made.event("h100-0", node.Rebooted())
    assert made.gpus("h100-0") == {}
    made.wait()
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 1}
    made.event("rtx-0", node.Rebooted())
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}
    made.event("rtx-0", node.Rebooted(loads=False))
    made.wait(86_400)
    assert "Init:0/1" in made.closed_gates("rtx-0")[TOOLKIT]


def test_a_node_whose_toolkit_does_not_come_back_after_a_reboot_offers_no_gpu() -> None:
    made = with_h100()
    raced = {"metadata": {"annotations": {ANNOTATION: annotation([Injected("reboot-race", 0, 0.0)])}}}
    made.event("h100-0", node.FaultsChanged(node_faults(raced)))
    made.event("h100-0", node.Rebooted())
    made.wait(86_400)
    closed = made.closed_gates("h100-0")
    assert made.gpus("h100-0") == {}
    assert "unable to restart containerd" in closed[TOOLKIT]
    assert 'no runtime for "nvidia" is configured' in closed[VALIDATOR]
    made.event("h100-0", node.FaultsChanged(NO_FAULTS))
    made.wait()
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 1}


def test_a_toolkit_that_ends_takes_its_runtimes_with_it() -> None:
    """nvidia-container-toolkit v1.17.4 to v1.20.0 undo their configuration of containerd; Pods that run go on."""
    made = with_h100()
    alone = node.step(made.nodes["h100-0"], node.PodRemoved(TOOLKIT))
    assert (alone.runtimes, dict(alone.resources)) == (frozenset(), {"nvidia.com/gpu": 1})
    stopped = node.step(alone, node.PodRemoved(VALIDATOR))
    again = node.step(stopped, node.PodAdded(made.state.daemonsets[VALIDATOR]))
    assert 'no runtime for "nvidia" is configured' in again.pods[VALIDATOR].message
    assert node.cuda_probe(again) == ""


@pytest.mark.parametrize(("cdi", "works"), [(True, True), (False, False)])
def test_without_the_toolkits_runtime_a_new_program_has_its_gpu_by_cdi_alone(cdi: bool, works: bool) -> None:
    made = with_h100(cdi={"enabled": cdi})
    assert node.cuda_probe(made.nodes["h100-0"]) == ""
    without = node.step(made.nodes["h100-0"], node.PodRemoved(TOOLKIT))
    assert without.runtimes == frozenset()
    assert (node.cuda_probe(without) == "") is works


@pytest.mark.parametrize(("release", "found"), [("v26.3.3", False), ("v26.7.0", True)])
def test_older_validators_find_nvidia_smi_in_usr_bin_only(release: str, found: bool) -> None:
    made = gpu_model(release)
    made.join("rtx-0", rtx_pro_6000(), host=Host(driver="580.105.08", smi="usr/sbin"))
    assert (made.gpus("rtx-0") == {"nvidia.com/gpu": 1}) is found


def test_secure_boot_refuses_the_operators_modules() -> None:
    made = gpu_model()
    hardware = h100()
    made.join("h100-0", type(hardware)(**{**hardware.__dict__, "secure_boot": True}))
    made.wait()
    driver = next(text for name, text in made.closed_gates("h100-0").items() if name.startswith("nvidia-gpu-driver"))
    assert "Key was rejected by service" in driver


def test_secure_boot_takes_precompiled_modules() -> None:
    driver = h100_driver(version="580", usePrecompiled=True)
    made = gpu_model(drivers={"h100": driver})
    made.join("h100-0", type(h100())(**{**h100().__dict__, "secure_boot": True}))
    made.wait()
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 1}


def replicas(count: int) -> dict[str, object]:
    return {"sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": count}]}}}


def test_the_device_plugin_reads_its_configuration_at_its_start_and_when_the_label_names_another() -> None:
    made = gpu_model(devicePlugin={"config": {"name": "gpu-pool-configs", "default": "one"}})
    made.join("h100-0", h100(), configs={"one": replicas(2), "other": replicas(3)})
    made.wait()
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 2}
    made.event("h100-0", node.ConfigsChanged({"one": replicas(5), "other": replicas(6)}))
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 2}
    made.kick("h100-0", PLUGIN)
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 5}
    made.label("h100-0", **{"nvidia.com/device-plugin.config": "other"})
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 6}


def test_a_node_that_joins_at_zero_starts_everything() -> None:
    made = gpu_model()
    made.run()
    assert made.state.daemonsets == {}
    for name in ("h100-0", "h100-1"):
        made.join(name, h100())
    made.wait()
    assert [made.gpus(name) for name in ("h100-0", "h100-1")] == [{"nvidia.com/gpu": 1}] * 2


def test_a_step_leaves_the_given_state_alone() -> None:
    made = with_h100()
    before = made.nodes["h100-0"]
    copy = repr(before)
    node.step(before, node.PodRemoved(PLUGIN))
    assert repr(before) == copy
