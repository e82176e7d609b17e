"""The gates of a GPU node: what opens them, and the known failures that keep them closed."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.gpu import node
from simulator.gpu.names import DEPLOY, DEPLOY_DRIVER, MIG_CONFIG, MIG_STATE, PRESENT
from simulator.gpu.node_state import Host
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GPU_TAINT, GRID, SPOT, GpuModel, gpu_model, h100_driver

TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
PLUGIN = "nvidia-device-plugin-daemonset"
PCI = "feature.node.kubernetes.io/pci-10de.present"
RELEASES = ("v25.3.4", "v26.3.3", "v26.7.0")


def with_h100(**changes: Any) -> GpuModel:
    """A cluster whose H100 node works."""
    made = gpu_model(**changes)
    made.join("h100-0", h100())
    made.wait()
    return made


@pytest.mark.parametrize("release", RELEASES)
def test_h100_gets_its_gpu_once_the_operators_driver_is_built(release: str) -> None:
    made = gpu_model(release)
    made.join("h100-0", h100())
    assert made.gpus("h100-0") == {}
    assert made.closed_gates("h100-0")[TOOLKIT].startswith("Init:0/1 (driver-validation): stat: cannot statx")
    assert 'no runtime for "nvidia" is configured' in made.closed_gates("h100-0")[PLUGIN]
    made.wait()
    assert made.closed_gates("h100-0") == {}
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 1}
    assert made.nodes["h100-0"].driver_root == "/run/nvidia/driver"
    assert made.labels("h100-0")["nvidia.com/gpu.product"] == "NVIDIA-H100-NVL"


@pytest.mark.parametrize("release", RELEASES)
def test_rtx_with_a_driver_on_the_host_gets_its_gpu_with_the_hosts_root(release: str) -> None:
    made = gpu_model(release)
    made.join("rtx-0", rtx_pro_6000(), host=GRID)
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}
    assert made.nodes["rtx-0"].driver_root == "/"
    assert not any("driver" in name for name in made.nodes["rtx-0"].pods)
    assert node.cuda_probe(made.nodes["rtx-0"]) == ""


def test_validator_before_the_driver_hangs_for_ever_and_a_kick_frees_it() -> None:
    made = with_h100()
    made.join("rtx-0", rtx_pro_6000())
    made.event("rtx-0", node.HostChanged(GRID))
    made.wait(86_400)
    assert "Init:0/1 (driver-validation)" in made.closed_gates("rtx-0")[TOOLKIT]
    assert ".driver-ctr-ready': No such file or directory" in made.closed_gates("rtx-0")[TOOLKIT]
    assert made.gpus("rtx-0") == {}
    made.kick("rtx-0", TOOLKIT)
    assert made.closed_gates("rtx-0") == {}
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}


def test_without_any_operator_driver_the_validator_looks_for_files_instead_of_the_marker() -> None:
    made = gpu_model(drivers={})
    made.join("rtx-0", rtx_pro_6000())
    assert "failed to find libnvidia-ml.so.1" in made.closed_gates("rtx-0")[TOOLKIT]


def test_restarting_a_running_validator_takes_no_gpus_away() -> None:
    made = with_h100()
    made.kick("h100-0", VALIDATOR)
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 1}
    assert made.closed_gates("h100-0") == {}


def test_missing_spot_toleration_leaves_a_spot_node_without_operands() -> None:
    made = gpu_model(daemonsets={})
    made.join("h100-0", h100(), taints=[GPU_TAINT, SPOT])
    assert made.kept_off("h100-0")[PLUGIN] == f"untolerated taint {SPOT}"
    driver = next(name for name in made.state.daemonsets if name.startswith("nvidia-gpu-driver"))
    assert driver in made.nodes["h100-0"].pods
    assert PLUGIN not in made.nodes["h100-0"].pods


def test_the_driver_inherits_no_toleration_from_the_clusterpolicy() -> None:
    made = gpu_model(drivers={"h100": h100_driver(tolerations=[])})
    made.join("h100-0", h100(), taints=[GPU_TAINT, SPOT])
    assert not any(name.startswith("nvidia-gpu-driver") for name in made.nodes["h100-0"].pods)
    assert PLUGIN in made.nodes["h100-0"].pods


def test_value_less_taint_passes_exists_and_stops_equal() -> None:
    taint = "nvidia.com/gpu:NoSchedule"
    made = gpu_model()
    made.join("h100-0", h100(), taints=[taint])
    assert PLUGIN in made.nodes["h100-0"].pods
    equal = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    made = gpu_model(daemonsets={"tolerations": [equal]})
    made.join("h100-0", h100(), taints=[taint])
    assert made.kept_off("h100-0")[PLUGIN] == f"untolerated taint {taint}"


def test_strategy_none_on_a_vgpu_returns_the_bare_uuid_and_cuda_fails() -> None:
    made = gpu_model(mig={"strategy": "none"})
    made.join("rtx-0", rtx_pro_6000(), host=GRID)
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}
    assert made.closed_gates("rtx-0") == {}
    assert "GPU-0 is in MIG mode" in node.cuda_probe(made.nodes["rtx-0"])


def test_strategy_none_does_no_harm_to_an_h100_without_mig() -> None:
    made = with_h100(mig={"strategy": "none"})
    assert node.cuda_probe(made.nodes["h100-0"]) == ""


MIG_MANAGER = {"enabled": True, "config": {"default": "all-disabled"}}


def test_mig_manager_let_loose_on_a_vgpu_stops_its_gpu() -> None:
    made = gpu_model(migManager=MIG_MANAGER)
    made.join("rtx-0", rtx_pro_6000(), host=GRID)
    assert made.labels("rtx-0")[MIG_STATE] == "failed"
    assert made.gpus("rtx-0") == {}
    assert "error applying MIG configuration all-disabled" in made.closed_gates("rtx-0")["nvidia-mig-manager"]


def test_a_deploy_label_or_a_visible_vgpu_keeps_the_mig_manager_away() -> None:
    made = gpu_model(migManager=MIG_MANAGER)
    made.join("rtx-0", rtx_pro_6000(), host=GRID, labels={f"{DEPLOY}mig-manager": "false"})
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}
    made.join("rtx-1", rtx_pro_6000(), host=GRID, labels={"nvidia.com/vgpu.host-driver-version": "580.105.06"})
    assert made.gpus("rtx-1") == {"nvidia.com/gpu": 1}


def test_mig_manager_partitions_an_h100() -> None:
    made = with_h100(migManager=MIG_MANAGER, mig={"strategy": "mixed"})
    assert made.labels("h100-0")[MIG_STATE] == "success"
    made.label("h100-0", **{MIG_CONFIG: "all-3g.47gb"})
    assert made.gpus("h100-0") == {"nvidia.com/mig-3g.47gb": 2}
    made.policy(mig={"strategy": "single"})
    assert made.gpus("h100-0") == {"nvidia.com/gpu": 2}


def test_the_operators_driver_on_a_vgpu_node_crash_loops() -> None:
    made = gpu_model(drivers={"all": {"metadata": {"name": "all"}, "spec": {}}})
    made.join("rtx-0", rtx_pro_6000(), labels={DEPLOY_DRIVER: "true"})
    driver = next(text for name, text in made.closed_gates("rtx-0").items() if name.startswith("nvidia-gpu-driver"))
    assert driver.startswith("CrashLoopBackOff")
    assert "the GPU is a vGPU" in driver


def test_two_owners_of_one_nodes_driver_end_with_the_hosts() -> None:
    made = gpu_model(drivers={"all": {"metadata": {"name": "all"}, "spec": {}}})
    made.join("rtx-0", rtx_pro_6000(), host=GRID, labels={DEPLOY_DRIVER: "true"})
    assert made.labels("rtx-0")[DEPLOY_DRIVER] == "pre-installed"
    assert not any(name.startswith("nvidia-gpu-driver") for name in made.nodes["rtx-0"].pods)
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}


OWN_DRIVER = {"enabled": True, "useNvidiaDriverCRD": False, "repository": "nvcr.io/nvidia", "version": "580.82.07"}


@pytest.mark.parametrize(("own", "works"), [(OWN_DRIVER, False), (None, True)], ids=["clusterpolicy", "nvidiadriver"])
def test_mixed_systems_break_the_clusterpolicys_driver_only(own: dict[str, Any] | None, works: bool) -> None:
    changes: dict[str, Any] = {"driver": own} if own else {}
    made = gpu_model(**changes)
    made.join("a-rtx-22", rtx_pro_6000(), host=GRID, os="22.04")
    made.join("h100-0", h100())
    made.wait()
    assert (made.gpus("h100-0") == {"nvidia.com/gpu": 1}) is works
    if not works:
        assert "is not for ubuntu24.04" in made.closed_gates("h100-0")["nvidia-driver-daemonset"]


def test_nfd_restart_strips_the_labels_and_only_the_driver_crd_keeps_the_pool_safe() -> None:
    made = with_h100()
    made.join("rtx-0", rtx_pro_6000(), host=GRID)
    made.label("rtx-0", **{PCI: None})
    assert made.labels("rtx-0")[PRESENT] == "false"
    assert not any(label.startswith(DEPLOY) for label in made.labels("rtx-0"))
    assert made.gpus("rtx-0") == {}
    made.label("rtx-0", **{PCI: "true"})
    assert made.labels("rtx-0")[DEPLOY_DRIVER] == "true"
    assert not any("driver" in name for name in made.nodes["rtx-0"].pods)
    assert made.gpus("rtx-0") == {"nvidia.com/gpu": 1}


@pytest.mark.parametrize(("release", "lost"), [("v25.3.4", False), ("v26.3.3", False), ("v26.7.0", True)])
def test_a_pool_label_is_lost_when_another_node_joins_before_nfd(release: str, lost: bool) -> None:
    made = gpu_model(release)
    made.run()
    made.join("rtx-0", rtx_pro_6000(), host=GRID, nfd=False)
    assert made.labels("rtx-0")[DEPLOY_DRIVER] == "false"
    made.join("h100-0", h100())
    made.discover("rtx-0")
    assert made.labels("rtx-0")[DEPLOY_DRIVER] == ("true" if lost else "false")


BARE = {"enabled": True}
NRI = {"enabled": True, "nriPluginEnabled": True}


@pytest.mark.parametrize(
    ("release", "changes", "containerd", "alive"),
    [
        ("v26.7.0", {"toolkit": BARE}, "2.3.2", False),
        ("v26.3.3", {"toolkit": BARE}, "2.3.2", False),
        ("v26.7.0", {}, "2.3.2", True),
        ("v26.7.0", {"toolkit": BARE}, "2.1.4", True),
        ("v26.7.0", {"toolkit": BARE}, "1.7.34", True),
        ("v26.7.0", {"toolkit": BARE, "cdi": NRI}, "2.3.2", True),
        ("v25.3.4", {"toolkit": BARE, "cdi": {"enabled": False}}, "2.3.2", True),
    ],
)
def test_containerd_fails_on_a_newer_drop_in(
    release: str, changes: dict[str, Any], containerd: str, alive: bool
) -> None:
    made = gpu_model(release, **changes)
    made.join("h100-0", h100(), containerd=containerd)
    made.wait()
    assert bool(made.nodes["h100-0"].containerd_dead) is not alive
    assert (made.gpus("h100-0") == {"nvidia.com/gpu": 1}) is alive
    if not alive:
        assert "drop-in config version 4 is higher than root config version 2" in made.closed_gates("h100-0")[TOOLKIT]


def test_marker_and_bind_mount_pass_the_gate_but_show_no_devices() -> None:
    # Without a runtime class to wait for, the validator looks at the host as early as the toolkit does.
    made = with_h100(cdi=NRI)
    made.join("rtx-0", rtx_pro_6000())
    made.event("rtx-0", node.HostChanged(Host(driver="580.105.08", bind_mount=True)))
    made.event("rtx-0", node.MarkerTouched())
    assert TOOLKIT not in made.closed_gates("rtx-0")
    assert "lstat /run/nvidia/driver/dev/nvidiactl" in made.closed_gates("rtx-0")[VALIDATOR]
    assert made.gpus("rtx-0") == {}
