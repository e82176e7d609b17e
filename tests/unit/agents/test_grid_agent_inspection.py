"""What the GRID agent reads from a host: modules, mounts, devices, libraries, parameters, processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grid_agent import inspection
from grid_agent.facts import (
    Module,
)
from grid_agent.faults import same_value
from grid_agent.shell import TIMED_OUT, Result, Shell
from grid_agent.smi import module_from
from tests.support.cases import in_one_test
from tests.support.grid_agent_fake import NEW


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("filename: /lib/x.ko\nversion:        595.91.07\nlicense:        Dual MIT/GPL\n", Module(NEW, "open")),
        ("version: 580.105.08\nlicense: NVIDIA\n", Module("580.105.08", "proprietary")),
    ],
)
def test_modinfo_reports_version_and_flavour(text: str, module: Module) -> None:
    assert module_from(Result(0, text)) == module
    assert module_from(Result(1, err="modinfo: ERROR: Module nvidia not found.")) is None


MOUNTS = {
    "none": "",
    "root": "90 20 8:1 / /run/nvidia/driver rw - ext4 /dev/sda1 rw\n",
    "deleted": "90 25 0:24 /before//deleted /run/nvidia/driver rw - tmpfs tmpfs rw\n",
    "other": "90 25 0:55 / /run/nvidia/driver rw - overlay overlay rw\n",
}


@pytest.mark.parametrize("kind", MOUNTS)
def test_what_is_mounted_on_the_driver_root(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "proc/self/mountinfo"
    file.parent.mkdir(parents=True)
    file.write_text("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 20 0:24 / /run rw - tmpfs tmpfs rw\n" + MOUNTS[kind])
    assert inspection.legacy_mount(Shell(str(tmp_path))) == kind


def test_gpus_are_found_by_vendor_and_class(tmp_path: Path) -> None:
    for name, vendor, device, kind in (
        ("0001:00:00.0", "0x10de", "0x2bb5", "0x030200"),
        ("0001:00:00.1", "0x10de", "0x22e8", "0x040300"),
        ("0000:00:01.0", "0x1414", "0x5353", "0x030000"),
    ):
        folder = tmp_path / "sys/bus/pci/devices" / name
        folder.mkdir(parents=True)
        for file, text in (("vendor", vendor), ("device", device), ("class", kind)):
            (folder / file).write_text(f"{text}\n")
    assert [gpu.id for gpu in inspection.gpus(Shell(str(tmp_path)))] == ["10de:2bb5"]


def test_every_library_version_counts(tmp_path: Path) -> None:
    for path in ("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.595.91.07", "usr/lib64/libnvidia-ml.so.570.237"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    (tmp_path / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").touch()
    assert inspection.library(Shell(str(tmp_path))) == "570.237,595.91.07"


def test_a_command_is_bounded() -> None:
    shell = Shell(seconds=0.05)
    assert shell.run("sleep", "60").code == TIMED_OUT
    assert shell.run("no-such-command").complaint == "not found"


PARAMS = """ResmanDebugLevel: 4294967295
EnableMSI: 1
DeviceFileMode: 438
RegistryDwords: "RMPowerFeature=0x55"
ExcludedGpus: ""
"""


def test_parameters_of_the_driver_are_read_where_it_shows_them(tmp_path: Path) -> None:
    for path, text in (
        ("proc/driver/nvidia/params", PARAMS),
        ("sys/module/nvidia_uvm/parameters/uvm_disable_hmm", "Y"),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    shown = inspection.parameters(Shell(str(tmp_path)), {"nvidia": Module(NEW), "nvidia_uvm": Module(NEW)})
    assert shown["nvidia_uvm"] == {"uvm_disable_hmm": "Y"}
    assert shown["nvidia"]["NVreg_EnableMSI"] == "1"
    assert shown["nvidia"]["NVreg_RegistryDwords"] == "RMPowerFeature=0x55"
    assert shown["nvidia"]["NVreg_ExcludedGpus"] == ""


@in_one_test(
    ("wanted_value", "shown", "same"),
    [
        ("1", "Y", True),
        ("0", "N", True),
        ("1", "N", False),
        ("0x10", "16", True),
        ("-1", "4294967295", True),
        ("0666", "438", True),
        ("off", "N", True),
        ("2", "Y", False),
        ('"a=1;b"', "a=1;b", True),
        ("a=1", "a=2", False),
        ("08", "8", False),
    ],
)
def test_a_parameter_is_compared_as_the_kernel_reads_it(wanted_value: str, shown: str, same: bool) -> None:
    assert same_value(wanted_value, shown) is same


UID = "5f0c2b7e-0000-4000-8000-00000000000a"

SLICE = f"pod{UID.replace('-', '_')}.slice"

CGROUPS = {
    f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-{SLICE}/cri-1.scope": UID,
    f"0::/../../kubepods-{SLICE}/cri-1.scope": UID,
    f"4:memory:/kubepods/besteffort/pod{UID}/1\n": UID,
    "0::/system.slice/ssh.service": "",
}


@pytest.mark.parametrize("cgroup", CGROUPS)
def test_a_process_belongs_to_the_pod_of_its_cgroup(cgroup: str) -> None:
    assert inspection.pod_of(cgroup) == CGROUPS[cgroup]


def test_modules_of_others_and_missing_device_nodes_are_found(tmp_path: Path) -> None:
    for path in ("nvidia/holders/nvidia_uvm", "nvidia/holders/gdrdrv", "nvidia_uvm/holders/nvidia_fs"):
        (tmp_path / "sys/module" / path).mkdir(parents=True)
    (tmp_path / "dev/nvidia-caps").mkdir(parents=True)
    for name in ("nvidiactl", "nvidia0"):
        (tmp_path / "dev" / name).touch()
    shell = Shell(str(tmp_path))
    assert inspection.kernel_users(shell, {"nvidia": Module(NEW), "nvidia_uvm": Module(NEW)}) == ("gdrdrv", "nvidia_fs")
    assert inspection.missing_nodes(shell, 2) == ("/dev/nvidia-uvm", "/dev/nvidia1")
