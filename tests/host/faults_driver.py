"""Faults of drivers that are on the node already, of the licence, and traces of other set-ups."""

from __future__ import annotations

from tests.host.faults import Act, Fault, inject, remove
from tests.host.installers import NEW, OLD
from tests.host.lab import Lab
from tests.host.node import RTX_PRO_6000
from tests.host.operator import MARKER

ROOT = "/run/nvidia/driver"
AKS_MARKER = "/opt/azure/aks-gpu/dkms-marker"


def _loaded(lab: Lab) -> None:
    for module in ("nvidia_uvm", "nvidia_modeset"):
        assert lab.node.run("modprobe", module).returncode == 0


def _driver(version: str, **changes: object) -> Act:
    def act(lab: Lab) -> None:
        lab.node.driver(version, **changes)  # type: ignore[arg-type]

    return act


def _proprietary(lab: Lab) -> None:
    lab.node.hardware(needs="any")
    lab.node.driver(NEW, flavour="proprietary")


def _open(lab: Lab) -> None:
    assert "Open Kernel Module" in (lab.node.read("/proc/driver/nvidia/version") or "")


def _prebaked(lab: Lab) -> None:
    lab.node.driver("580.159.04", grid=False, dkms=True)
    lab.node.write(AKS_MARKER, "6.8.0-1041-azure 580.159.04 cuda-lts\n")
    lab.node.hardware(**{"loads-at-boot": "nvidia\nnvidia_uvm\nnvidia_modeset"})


def _taken_over(lab: Lab) -> None:
    assert lab.node.read(AKS_MARKER) is None, "a later start of the node would delete this driver"
    assert not lab.node.path("/var/lib/dkms/nvidia/580.159.04").exists()
    lab.reboot()
    lab.wait("it serves after a reboot", lambda: lab.ready() and lab.serves(NEW))


def _marker_alone(lab: Lab) -> None:
    lab.node.write(AKS_MARKER, "6.8.0-1041-azure 580.159.04 cuda-lts\n")


def _disabled_hmm(lab: Lab) -> None:
    assert lab.node.read("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm") == "Y"


def _optional(lab: Lab) -> None:
    lab.want(licence="optional")
    lab.node.fault("unlicensed")


def _gridd_stopped(lab: Lab) -> None:
    lab.node.run("systemctl", "stop", "nvidia-gridd")


def _gridd_runs(lab: Lab) -> None:
    lab.wait("nvidia-gridd runs", lambda: lab.node.run("systemctl", "is-active", "nvidia-gridd").returncode == 0)


def _smi_hangs(lab: Lab) -> None:
    lab.want(timings={"commandSeconds": 0.4})
    lab.node.fault("smi-hangs")


def _hidden_parameters(lab: Lab) -> None:
    parameters = {"NVreg_DeviceFileMode": "0x180", "NVreg_OpenRmEnableUnsupportedGpus": "1"}
    lab.want(moduleParameters={"nvidia": parameters, "nvidia_uvm": {"uvm_disable_hmm": "1"}})


def _loaded_once(lab: Lab) -> None:
    assert "DeviceFileMode: 384" in (lab.node.read("/proc/driver/nvidia/params") or "")
    lab.pause(0.5, lambda: not lab.gated, "the gate is open")
    assert lab.node.steps().count("rmmod:nvidia") == 0, lab.node.steps()


def _two_gpus(lab: Lab) -> None:
    lab.node.hardware(pci=f"{RTX_PRO_6000}\n0003:00:00.0 0x10de 0x2bb5 0x030200")


def _no_uvm_node(lab: Lab) -> None:
    lab.node.run("rm", "/dev/nvidia-uvm")


def _uvm_node(lab: Lab) -> None:
    lab.wait("the device node exists", lambda: lab.node.run("test", "-e", "/dev/nvidia-uvm").returncode == 0)


def _stale_marker(lab: Lab) -> None:
    lab.node.write(MARKER, "")


def _legacy_bind(lab: Lab) -> None:
    lab.node.write(MARKER, "")
    lab.node.run("mkdir", "-p", ROOT)
    assert lab.node.run("mount", "--bind", "/", ROOT).returncode == 0


def _deleted_mount(lab: Lab) -> None:
    lab.node.run("mkdir", "-p", ROOT, "/run/before")
    assert lab.node.run("mount", "--bind", "/run/before", ROOT).returncode == 0
    assert lab.node.run("rmdir", "/run/before").returncode == 0


def _no_traces(lab: Lab) -> None:
    assert lab.node.read(MARKER) is None
    assert ROOT not in (lab.node.read("/proc/self/mountinfo") or lab.node.run("cat", "/proc/self/mountinfo").stdout)
    assert lab.node.run("test", "-e", "/usr/bin/env").returncode == 0, "the root itself was unmounted"


def _unloaded_uvm(lab: Lab) -> None:
    assert lab.node.run("rmmod", "nvidia_uvm").returncode == 0


def _files_gone(lab: Lab) -> None:
    """A start of the node's image deleted what it took for its own, under loaded modules."""
    lab.node.run("sh", "-c", "rm -rf /usr/bin/nvidia-* /var/lib/dkms/nvidia /lib/modules/*/updates/dkms/nvidia*.ko")


FAULTS = (
    Fault("another version is in place", "recovers", "Replaces it.", disk=_driver(OLD), live=_loaded),
    Fault(
        "the right version with proprietary modules is in place",
        "recovers",
        "Replaces it by the open modules.",
        disk=_proprietary,
        live=_loaded,
        then=_open,
    ),
    Fault(
        "libraries and module differ (node image 202607.02.0)",
        "recovers",
        "Takes both off and installs.",
        disk=_driver("570.211.01", libraries=OLD),
        live=_loaded,
    ),
    Fault(
        "AKS's prebaked CUDA driver is in place, with its marker",
        "recovers",
        "Unloads it, removes it, its DKMS tree and its marker, installs; stays after a reboot.",
        disk=_prebaked,
        then=_taken_over,
    ),
    Fault(
        "only the marker of AKS's prebaked driver is left",
        "recovers",
        "Removes it, so that no later start deletes this driver.",
        disk=_marker_alone,
        then=_taken_over,
        deep=True,
    ),
    Fault(
        "the driver's files are deleted under loaded modules",
        "recovers",
        "Unloads the modules and installs again.",
        served=True,
        live=_files_gone,
    ),
    Fault(
        "nvidia-gridd is missing",
        "stops",
        "Never calls it verified: without the daemon the GPU falls back to a crawl. Stops and says so.",
        disk=inject("no-gridd"),
        says="(?i)gridd",
        mend=remove("no-gridd"),
        gate="closed",
    ),
    Fault(
        "nvidia-gridd was stopped", "recovers", "Starts it again.", served=True, live=_gridd_stopped, then=_gridd_runs
    ),
    Fault(
        "the GPU gets no licence",
        "waits",
        "Keeps the gate closed, says that it is unlicensed, goes on as soon as it is licensed.",
        disk=inject("unlicensed"),
        says="(?i)licen",
        mend=remove("unlicensed"),
        gate="closed",
    ),
    Fault("the GPU gets no licence, and none is asked for", "recovers", "Serves; a metric reports it.", disk=_optional),
    Fault(
        "the module nvidia_uvm does not load while nvidia-smi works",
        "waits",
        "Never calls it verified: CUDA would fail. Tries again, then says so.",
        disk=inject("load-nvidia_uvm"),
        says="(?i)(fail|help).*uvm|uvm.*(fail|insert)",
        mend=remove("load-nvidia_uvm"),
        gate="closed",
    ),
    Fault(
        "the module nvidia_uvm is gone while the driver serves",
        "recovers",
        "Loads it again.",
        served=True,
        live=_unloaded_uvm,
    ),
    Fault(
        "the driver was loaded without uvm_disable_hmm",
        "recovers",
        "Writes the option and loads the modules anew.",
        disk=_driver(NEW),
        live=_loaded,
        then=_disabled_hmm,
    ),
    Fault(
        "a parameter that the driver shows in its own file only, and one that it shows nowhere",
        "recovers",
        "Compares what is shown, loads the modules once, and opens the gate.",
        disk=_hidden_parameters,
        then=_loaded_once,
    ),
    Fault(
        "one of two GPUs is not listed",
        "waits",
        "Says how many are; the gate is open for the other one.",
        disk=_two_gpus,
        served=True,
        live=inject("gpu-lost"),
        says="1 of the 2 GPUs",
        mend=remove("gpu-lost"),
        gate="open",
    ),
    Fault(
        "a GPU asks for a reboot of the node",
        "waits",
        "Takes the node out of service and says so.",
        served=True,
        live=inject("gpu-failed"),
        says="Reboot",
        mend=remove("gpu-failed"),
        gate="closed",
    ),
    Fault(
        "nvidia-smi prints its report and fails",
        "waits",
        "Names the exit code's meaning.",
        served=True,
        live=inject("inforom"),
        says="infoROM",
        mend=remove("inforom"),
    ),
    Fault(
        "a device node is missing while the driver serves",
        "recovers",
        "Makes it again.",
        served=True,
        live=_no_uvm_node,
        then=_uvm_node,
    ),
    Fault(
        "nvidia-smi hangs",
        "waits",
        "Bounds it and says so; goes on when it answers.",
        served=True,
        live=_smi_hangs,
        says=r"(?i)nvidia-smi|timed out",
        mend=remove("smi-hangs"),
    ),
    Fault(
        "the MIG device is gone",
        "waits",
        "Takes the node out of service and says so.",
        served=True,
        live=inject("mig-lost"),
        says="MIG",
        mend=remove("mig-lost"),
    ),
    Fault(
        "a stale marker of the seed deployment",
        "recovers",
        "Removes it before any change.",
        live=_stale_marker,
        then=_no_traces,
    ),
    Fault(
        "the bind mount of the seed deployment",
        "recovers",
        "Unmounts it plainly; the root stays.",
        live=_legacy_bind,
        then=_no_traces,
    ),
    Fault(
        "a mount on /run/nvidia/driver whose source is deleted",
        "recovers",
        "Unmounts it.",
        live=_deleted_mount,
        then=_no_traces,
    ),
)
