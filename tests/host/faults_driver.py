"""Faults of drivers that are on the node already, and of the licence."""

from __future__ import annotations

from tests.host.faults import Act, Fault, inject, remove
from tests.host.harness import Harness
from tests.host.installers import NEW, OLD
from tests.host.node import RTX_PRO_6000

AKS_MARKER = "/opt/azure/aks-gpu/dkms-marker"


def _loaded(harness: Harness) -> None:
    for module in ("nvidia_uvm", "nvidia_modeset"):
        assert harness.node.run("modprobe", module).returncode == 0


def _driver(version: str, **changes: object) -> Act:
    def act(harness: Harness) -> None:
        harness.node.driver(version, **changes)  # type: ignore[arg-type]

    return act


def _proprietary(harness: Harness) -> None:
    harness.node.hardware(needs="any")
    harness.node.driver(NEW, flavour="proprietary")


def _open(harness: Harness) -> None:
    assert "Open Kernel Module" in (harness.node.read("/proc/driver/nvidia/version") or "")


def _prebaked(harness: Harness) -> None:
    harness.node.driver("580.159.04", grid=False, dkms=True)
    harness.node.write(AKS_MARKER, "6.8.0-1041-azure 580.159.04 cuda-lts\n")
    harness.node.hardware(**{"loads-at-boot": "nvidia\nnvidia_uvm\nnvidia_modeset"})


def _taken_over(harness: Harness) -> None:
    assert harness.node.read(AKS_MARKER) is None, "a later start of the node would delete this driver"
    assert not harness.node.path("/var/lib/dkms/nvidia/580.159.04").exists()
    harness.reboot()
    harness.wait("it serves after a reboot", lambda: harness.ready() and harness.serves(NEW))


def _marker_alone(harness: Harness) -> None:
    harness.node.write(AKS_MARKER, "6.8.0-1041-azure 580.159.04 cuda-lts\n")


def _disabled_hmm(harness: Harness) -> None:
    assert harness.node.read("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm") == "Y"


def _optional(harness: Harness) -> None:
    harness.want(licence="optional")
    harness.node.fault("unlicensed")


def _gridd_stopped(harness: Harness) -> None:
    harness.node.run("systemctl", "stop", "nvidia-gridd")


def _gridd_runs(harness: Harness) -> None:
    harness.wait("the daemon runs", lambda: harness.node.run("systemctl", "is-active", "nvidia-gridd").returncode == 0)


def _smi_hangs(harness: Harness) -> None:
    harness.want(timings={"commandSeconds": 0.4})
    harness.node.fault("smi-hangs")


def _hidden_parameters(harness: Harness) -> None:
    parameters = {"NVreg_DeviceFileMode": "0x180", "NVreg_OpenRmEnableUnsupportedGpus": "1"}
    harness.want(moduleParameters={"nvidia": parameters, "nvidia_uvm": {"uvm_disable_hmm": "1"}})


def _loaded_once(harness: Harness) -> None:
    assert "DeviceFileMode: 384" in (harness.node.read("/proc/driver/nvidia/params") or "")
    harness.pause(0.5, lambda: not harness.gated, "the gate is open")
    assert harness.node.steps().count("rmmod:nvidia") == 0, harness.node.steps()


def _two_gpus(harness: Harness) -> None:
    harness.node.hardware(pci=f"{RTX_PRO_6000}\n0003:00:00.0 0x10de 0x2bb5 0x030200")


def _no_uvm_node(harness: Harness) -> None:
    harness.node.run("rm", "/dev/nvidia-uvm")


def _uvm_node(harness: Harness) -> None:
    harness.wait("the device node exists", lambda: harness.node.run("test", "-e", "/dev/nvidia-uvm").returncode == 0)


def _unloaded_uvm(harness: Harness) -> None:
    assert harness.node.run("rmmod", "nvidia_uvm").returncode == 0


def _files_gone(harness: Harness) -> None:
    """A start of the node's image deleted what it took for its own, under loaded modules."""
    harness.node.run("sh", "-c", "rm -rf /usr/bin/nvidia-* /var/lib/dkms/nvidia /lib/modules/*/updates/dkms/nvidia*.ko")


FAULTS = (
    Fault("another version is in place", "recovers", "Replaces it.", disk=_driver(OLD), live=_loaded, deep=True),
    Fault(
        "the right version with proprietary modules is in place",
        "recovers",
        "Replaces it by the open modules.",
        disk=_proprietary,
        live=_loaded,
        then=_open,
        deep=True,
    ),
    Fault(
        "libraries and module differ (node image 202607.02.0)",
        "recovers",
        "Takes both off and installs.",
        disk=_driver("570.211.01", libraries=OLD),
        live=_loaded,
        deep=True,
    ),
    Fault(
        "AKS's prebaked CUDA driver is in place, with its marker",
        "recovers",
        "Unloads it, removes it, its DKMS tree and its marker, installs; works after a reboot.",
        disk=_prebaked,
        then=_taken_over,
        deep=True,
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
        deep=True,
    ),
    Fault(
        "nvidia-gridd is missing",
        "stops",
        "Never calls it verified: without the daemon the GPU falls back to a crawl. Stops and says so.",
        disk=inject("no-gridd"),
        says="(?i)gridd",
        mend=remove("no-gridd"),
        gate="closed",
        deep=True,
    ),
    Fault(
        "nvidia-gridd was stopped",
        "recovers",
        "Starts it again.",
        served=True,
        live=_gridd_stopped,
        then=_gridd_runs,
        deep=True,
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
    Fault(
        "the GPU gets no licence, and none is asked for",
        "recovers",
        "Serves; a metric reports it.",
        disk=_optional,
        deep=True,
    ),
    Fault(
        "the module nvidia_uvm does not load while nvidia-smi works",
        "waits",
        "Never calls it verified: CUDA would fail. Tries again, then says so.",
        disk=inject("load-nvidia_uvm"),
        says="(?i)(fail|help).*uvm|uvm.*(fail|insert)",
        mend=remove("load-nvidia_uvm"),
        gate="closed",
        deep=True,
    ),
    Fault(
        "the module nvidia_uvm is gone while the driver serves",
        "recovers",
        "Loads it again.",
        served=True,
        live=_unloaded_uvm,
        deep=True,
    ),
    Fault(
        "the driver was loaded without uvm_disable_hmm",
        "recovers",
        "Writes the option and loads the modules again.",
        disk=_driver(NEW),
        live=_loaded,
        then=_disabled_hmm,
        deep=True,
    ),
    Fault(
        "a parameter that the driver shows in its own file only, and one that it shows nowhere",
        "recovers",
        "Compares what is shown, loads the modules once, and opens the gate.",
        disk=_hidden_parameters,
        then=_loaded_once,
        deep=True,
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
        deep=True,
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
        deep=True,
    ),
    Fault(
        "nvidia-smi prints its report and fails",
        "waits",
        "Names the exit code's meaning.",
        served=True,
        live=inject("inforom"),
        says="infoROM",
        mend=remove("inforom"),
        deep=True,
    ),
    Fault(
        "a device node is missing while the driver serves",
        "recovers",
        "Makes it again.",
        served=True,
        live=_no_uvm_node,
        then=_uvm_node,
        deep=True,
    ),
    Fault(
        "nvidia-smi hangs",
        "waits",
        "Bounds it and says so; goes on when it answers.",
        served=True,
        live=_smi_hangs,
        says=r"(?i)nvidia-smi|timed out",
        mend=remove("smi-hangs"),
        deep=True,
    ),
    Fault(
        "the MIG device is gone",
        "waits",
        "Takes the node out of service and says so.",
        served=True,
        live=inject("mig-lost"),
        says="MIG",
        mend=remove("mig-lost"),
        deep=True,
    ),
)
