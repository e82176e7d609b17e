"""The diagnosis against the simulated operator: field failures, each with the gate that is really closed."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.readiness import ClosedGate, Expected, diagnose
from simulator.gpu import node
from simulator.gpu.names import DEPLOY, DEPLOY_DRIVER
from simulator.gpu.node_state import Host
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GPU_TAINT, GRID, SPOT, GpuModel, gpu_model, h100_driver
from tests.support.readiness_cluster import H100, RTX, cluster

PCI = "feature.node.kubernetes.io/pci-10de.present"
TOOLKIT = "nvidia-container-toolkit-daemonset"
PLUGIN = "nvidia-device-plugin-daemonset"


def first(made: GpuModel, name: str, expected: Expected, **changes: Any) -> ClosedGate:
    """The first closed gate of a node, of which there has to be one."""
    [report] = diagnose([expected], cluster(made, {name: expected.pool}, **changes))
    [closed] = report.closed
    assert report.state == "waiting"
    return closed


def state(made: GpuModel, name: str, expected: Expected) -> str:
    [report] = diagnose([expected], cluster(made, {name: expected.pool}))
    return report.state


def h100_node(**changes: Any) -> GpuModel:
    made = gpu_model(**changes)
    made.join("h100-00", h100())
    return made


def test_a_node_with_its_driver_built_is_ready() -> None:
    made = h100_node()
    made.wait()
    assert state(made, "h100-00", H100) == "ready"


def test_a_driver_that_is_being_built_is_waited_for() -> None:
    closed = first(h100_node(), "h100-00", H100)
    assert (closed.gate, closed.cause, closed.phase, closed.may_recover) == (
        "driver",
        "driver-building",
        "Running",
        True,
    )
    assert closed.message == "Installing NVIDIA driver kernel modules"


def test_validator_before_the_driver_names_the_pod_to_delete() -> None:
    made = h100_node()
    made.wait()
    made.join("rtx-01", rtx_pro_6000())
    made.event("rtx-01", node.HostChanged(GRID))
    made.wait(86_400)
    closed = first(made, "rtx-01", RTX)
    assert (closed.gate, closed.cause, closed.phase) == ("driver-validation", "host-driver-absent", "Init:0/1")
    assert ".driver-ctr-ready': No such file" in closed.message
    assert f"delete pod {TOOLKIT}-01" in closed.fix
    made.kick("rtx-01", TOOLKIT)
    assert state(made, "rtx-01", RTX) == "ready"


def test_a_validator_that_started_before_the_toolkit_found_the_driver_is_late_for_certain() -> None:
    made = gpu_model(cdi={"enabled": True, "nriPluginEnabled": True})
    made.join("rtx-00", rtx_pro_6000())
    made.wait(60)
    made.event("rtx-00", node.HostChanged(GRID))
    made.kick("rtx-00", TOOLKIT)
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause, closed.may_recover) == ("validator", "host-driver-late", False)
    assert "delete pod nvidia-operator-validator-00" in closed.fix


def test_a_driver_that_worked_before_the_pod_started_is_missing_now() -> None:
    made = gpu_model(cdi={"enabled": True, "nriPluginEnabled": True})
    made.join("rtx-00", rtx_pro_6000(), host=GRID)
    made.wait(60)
    made.event("rtx-00", node.HostChanged(Host()))
    made.kick("rtx-00", TOOLKIT)
    made.kick("rtx-00", PLUGIN)
    made.wait(1)
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause) == ("driver-validation", "host-driver-absent")


def test_missing_spot_toleration_names_taint_daemonset_and_list() -> None:
    made = gpu_model(daemonsets={})
    made.join("h100-00", h100(), taints=[GPU_TAINT, SPOT])
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("toolkit", "untolerated-taint")
    assert TOOLKIT in closed.reason
    assert SPOT in closed.reason
    assert "daemonsets.tolerations" in closed.fix


def test_the_drivers_own_tolerations_are_named_when_they_lack_the_taint() -> None:
    made = gpu_model(drivers={"h100": h100_driver(tolerations=[])})
    made.join("h100-00", h100(), taints=[GPU_TAINT, SPOT])
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("driver", "untolerated-taint")
    assert "NVIDIADriver's spec.tolerations" in closed.fix


def test_strategy_none_on_a_vgpu_is_closed_although_the_count_is_right() -> None:
    made = gpu_model(mig={"strategy": "none"})
    made.join("rtx-00", rtx_pro_6000(), host=GRID)
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause) == ("allocatable", "mig-none")


def test_mig_manager_on_a_vgpu_is_named() -> None:
    made = gpu_model(migManager={"enabled": True, "config": {"default": "all-disabled"}})
    made.join("rtx-00", rtx_pro_6000(), host=GRID)
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause) == ("device-plugin", "mig-failed")
    assert "all-disabled" in closed.reason


def test_the_operators_driver_on_a_grid_node_has_two_owners() -> None:
    made = gpu_model(drivers={"all": {"metadata": {"name": "all"}, "spec": {}}})
    made.join("rtx-00", rtx_pro_6000(), labels={DEPLOY_DRIVER: "true"})
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause, closed.phase) == ("driver", "two-drivers", "CrashLoopBackOff")
    assert "(grid)" in closed.reason


def test_the_operators_driver_on_a_vgpu_of_an_operator_pool_needs_grid() -> None:
    made = gpu_model(drivers={"all": {"metadata": {"name": "all"}, "spec": {}}})
    made.join("rtx-00", rtx_pro_6000(), labels={DEPLOY_DRIVER: "true"})
    closed = first(made, "rtx-00", Expected("rtxprogpu", {"nvidia.com/gpu": 1}, "operator"))
    assert (closed.gate, closed.cause) == ("driver", "driver-vgpu")


OWN_DRIVER = {"enabled": True, "useNvidiaDriverCRD": False, "repository": "nvcr.io/nvidia", "version": "580.82.07"}


def test_a_driver_image_for_another_system_is_recognised() -> None:
    made = gpu_model(driver=OWN_DRIVER)
    made.join("a-rtx-22", rtx_pro_6000(), host=GRID, os="22.04")
    made.join("h100-00", h100())
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("driver", "driver-wrong-os")
    assert "ubuntu24.04" in closed.reason


def test_two_nvidiadrivers_for_one_node_are_a_conflict() -> None:
    made = gpu_model(drivers={"h100": h100_driver(), "other": {**h100_driver(), "metadata": {"name": "other"}}})
    made.join("h100-00", h100())
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("driver", "driver-conflict")
    assert "multiple NVIDIADrivers match the same node" in closed.message


def test_a_node_without_a_matching_driver() -> None:
    made = gpu_model(drivers={})
    made.join("h100-00", h100())
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("driver", "driver-unclaimed")


def test_secure_boot_is_recognized_in_the_drivers_message() -> None:
    made, hardware = gpu_model(), h100()
    made.join("h100-00", type(hardware)(**{**hardware.__dict__, "secure_boot": True}))
    made.wait()
    assert first(made, "h100-00", H100).cause == "driver-secure-boot"


def test_nfd_label_that_is_lost_is_the_first_gate() -> None:
    made = h100_node()
    made.wait()
    made.label("h100-00", **{PCI: None})
    assert first(made, "h100-00", H100).gate == "nfd"


@pytest.mark.parametrize(
    ("label", "value", "cause"),
    [("container-toolkit", "false", "label-false"), ("operands", "false", "operands-off")],
)
def test_deploy_labels(label: str, value: str, cause: str) -> None:
    made = gpu_model()
    made.join("h100-00", h100(), labels={f"{DEPLOY}{label}": value})
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("deploy-labels", cause)


def test_containerd_that_fails_on_a_drop_in_is_a_gate_of_the_node() -> None:
    made = h100_node(toolkit={"enabled": True})
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause, closed.may_recover) == ("node", "containerd-drop-in", False)
    assert "runtimeConfigSource: file" in closed.fix


def test_marker_and_bind_mount_are_found_behind_the_validator() -> None:
    made = h100_node(cdi={"enabled": True, "nriPluginEnabled": True})
    made.wait()
    made.join("rtx-00", rtx_pro_6000())
    made.event("rtx-00", node.HostChanged(Host(driver="580.105.08", bind_mount=True)))
    made.event("rtx-00", node.MarkerTouched())
    closed = first(made, "rtx-00", RTX)
    assert (closed.gate, closed.cause) == ("validator", "bind-mount")


def test_a_configuration_that_does_not_exist_is_named() -> None:
    made = gpu_model(devicePlugin={"config": {"name": "gpu-pool-configs", "default": "default"}})
    configs = {"default": {"version": "v1"}}
    made.join("h100-00", h100(), configs=configs, labels={"nvidia.com/device-plugin.config": "h100gqu"})
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause, closed.phase) == ("device-plugin", "config-key", "Init:CrashLoopBackOff")
    assert "h100gqu" in closed.reason


def test_more_than_expected_is_closed_too() -> None:
    made = gpu_model(devicePlugin={"config": {"name": "gpu-pool-configs", "default": "default"}})
    sharing = {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
    made.join("h100-00", h100(), configs={"default": {"version": "v1", "sharing": sharing}})
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("allocatable", "other-resource")
    assert "4 × nvidia.com/gpu" in closed.reason


def test_mig_single_over_unequal_gpus_is_reported_by_the_device_plugin() -> None:
    made, hardware = gpu_model(), h100()
    made.join("h100-00", type(hardware)(**{**hardware.__dict__, "mig": (None, ("1g.12gb",))}))
    made.wait()
    closed = first(made, "h100-00", H100)
    assert (closed.gate, closed.cause) == ("device-plugin", "mig-single")


def test_a_pool_without_nodes_has_nothing_to_wait_for() -> None:
    [report] = diagnose([H100], cluster(gpu_model(), {}))
    assert (report.state, report.nodes, report.closed) == ("empty", 0, ())
