"""The GRID agent's readers and writers: what commands print, what files say, what the API server shows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from grid_agent import inspection, metrics
from grid_agent.configure import gridd_text, modprobe_text
from grid_agent.facts import Module
from grid_agent.faults import same_value
from grid_agent.memory import Failure, Memory, from_document, to_document
from grid_agent.pods import amount_of, is_operand, pod_from, uses_gpus
from grid_agent.shell import NOT_FOUND, TIMED_OUT, Result, Shell
from grid_agent.smi import module_from, smi_from
from grid_agent.steps import State, Step
from grid_agent.store import STATE_DIR, Locked, Store, UnsafeFolder
from grid_agent.wanted import Wanted, WantedError, document_of, wanted_from
from tests.support.grid_agent_world import NEW, SHA, wanted

QUERY = """
==============NVSMI LOG==============

Driver Version                            : 595.91.07
CUDA Version                              : 13.1

Attached GPUs                             : 1
GPU 00000001:00:00.0
    Product Name                          : NVIDIA RTX Pro 6000 Blackwell DC-4-96Q
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    vGPU Software Licensed Product
        Product Name                      : NVIDIA RTX Virtual Workstation
        License Status                    : Licensed (Expiry: N/A)
"""
LISTING = """GPU 0: NVIDIA RTX Pro 6000 Blackwell DC-4-96Q (UUID: GPU-1)
  MIG 4g.96gb     Device  0: (UUID: MIG-1)
"""
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.105\n"


def test_nvidia_smi_reports_version_licence_and_mig_device() -> None:
    smi = smi_from(Result(0, QUERY), Result(0, LISTING))
    assert (smi.ran, smi.version, smi.licence) == (True, NEW, "licensed")
    assert (smi.devices, smi.mig, smi.mig_devices) == (1, "enabled", 1)


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (QUERY.replace("Licensed (Expiry: N/A)", "Unlicensed (Restricted)"), "unlicensed"),
        (QUERY.split("    vGPU Software", maxsplit=1)[0], "unknown"),
        (QUERY + QUERY.replace("Licensed (Expiry", "Unlicensed (Expiry"), "unlicensed"),
    ],
)
def test_a_licence_counts_only_when_every_gpu_has_one(text: str, licence: str) -> None:
    assert smi_from(Result(0, text), Result(0, LISTING)).licence == licence


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (Result(18, MISMATCH), "Failed to initialize NVML: Driver/library version mismatch"),
        (Result(TIMED_OUT), "timed out"),
        (Result(NOT_FOUND), "not found"),
        (Result(0, ""), "exit code 0"),
    ],
)
def test_a_failing_nvidia_smi_is_quoted(result: Result, error: str) -> None:
    smi = smi_from(result, result)
    assert not smi.ran
    assert smi.error == error


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


def test_gridd_conf_keeps_the_template_but_requests_no_other_licence() -> None:
    template = "# Description\nServerAddress=\nFeatureType=0\nEnableUI=TRUE\n"
    assert gridd_text(template, {"IgnoreSP": "FALSE", "EnableUI": "FALSE"}) == (
        "# Description\nServerAddress=\nIgnoreSP=FALSE\nEnableUI=FALSE\n"
    )


def test_module_options_are_in_modprobe_d_with_nouveau_off() -> None:
    lines = modprobe_text(wanted()).splitlines()[1:]
    assert lines == ["blacklist nouveau", "options nouveau modeset=0", "options nvidia_uvm uvm_disable_hmm=1"]


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


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "version is missing"),
        ({"version": NEW, "sha": "x"}, "sha is not a setting"),
        ({"version": NEW, "sha256": "abc"}, "64 hexadecimal digits"),
        ({"version": NEW, "upgrade": "now"}, "write one of wait, drain, force"),
        ({"version": NEW, "urls": "https://x"}, "urls must be a list"),
        ({"version": NEW, "dkms": "yes"}, "write true or false"),
        ({"version": NEW, "timings": {"pollSeconds": "5"}}, "write a number"),
        ({"version": NEW, "timings": {"pollSeconds": float("nan")}}, "write a number"),
        ({"version": NEW, "packages": [{"url": "https://x"}]}, "needs url and sha256"),
        ({"version": NEW, "moduleParameters": {"nvidia": "fast"}}, "moduleParameters.nvidia must be an object"),
        ({"version": NEW, "moduleParameters": {"nvidia": {"a": 1}}}, "write a text of one line"),
        ({"version": NEW, "gridd": {"a": "1\ninstall nvidia /bin/sh"}}, "write a text of one line"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(document: dict[str, Any], says: str) -> None:
    with pytest.raises(WantedError, match=says):
        wanted_from(document)


def test_settings_survive_a_round_trip() -> None:
    full = wanted(
        upgrade="drain",
        devices=("10de:2bb5",),
        packages=wanted_from(
            {"version": NEW, "packages": [{"url": "https://x/h.deb", "sha256": SHA[NEW], "kernel": "6.8"}]}
        ).packages,
    )
    assert wanted_from(json.loads(json.dumps(document_of(full)))) == full


def test_timings_are_no_reason_for_new_attempts_but_a_checksum_is() -> None:
    slow = wanted_from({**document_of(wanted()), "timings": {"pollSeconds": 60}})
    assert slow.digest == wanted().digest
    assert wanted(sha256="f" * 64).digest != wanted().digest


def test_memory_survives_a_round_trip() -> None:
    memory = Memory(
        state=State.INSTALLING,
        upcoming=(Step.WAIT, Step.INSTALL),
        failures={"install": Failure(1, 1, "no", 5.0, tired=True)},
        verified=wanted().target,
        previous=wanted("580.105.08").target,
    )
    assert from_document(json.loads(json.dumps(to_document(memory)))) == memory


def _pod(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": "gpu-operator",
            "name": "v-1",
            "uid": "u",
            "labels": {"app": "nvidia-operator-validator"},
        },
        "spec": {"initContainers": [{"name": "driver-validation"}, {"name": "toolkit-validation"}], "containers": [{}]},
        "status": status,
    }


def test_a_pod_looks_until_its_first_init_container_has_succeeded() -> None:
    running = {"running": {"startedAt": "2026-11-21T10:00:00Z"}}
    waiting = {"waiting": {"reason": "PodInitializing"}}
    done = {"terminated": {"exitCode": 0, "startedAt": "2026-11-21T10:00:00Z"}}
    looking = pod_from(_pod(phase="Pending", initContainerStatuses=[{"state": running}, {"state": waiting}]))
    assert looking.looking
    assert looking.begun == 1795255200.0
    assert not pod_from(_pod(initContainerStatuses=[{"state": done}, {"state": running}])).looking
    assert pod_from(_pod(phase="Pending")).begun is None


def test_pods_that_have_ended_do_not_block() -> None:
    asks = {"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.24gb": "1"}}}]}
    pod = {"metadata": {"namespace": "a", "name": "b"}, "spec": asks, "status": {"phase": "Running"}}
    assert uses_gpus(pod)
    assert not uses_gpus({**pod, "status": {"phase": "Succeeded"}})
    assert not is_operand(pod)


def test_metrics_are_in_the_text_format() -> None:
    memory = Memory(
        state=State.BLOCKED,
        reason="InstallFailed",
        gated_at=5.0,
        attempts={"install": 3},
        failed={"install": 3},
        seen={"licence": "unlicensed", "installed": "", "kernel": 'a"b\\c'},
    )
    lines = metrics.render(memory, Wanted(NEW)).splitlines()
    assert 'grid_driver_state{state="blocked"} 1' in lines
    assert 'grid_driver_state{state="ready"} 0' in lines
    assert "grid_driver_gate_closed 1" in lines
    assert 'grid_driver_step_failures_total{step="install"} 3' in lines
    assert any('kernel="a\\"b\\\\c"' in line for line in lines)
    named = [line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")]
    typed = [line.split(" ")[2] for line in lines if line.startswith("# TYPE")]
    assert set(named) <= set(typed)
    assert len(typed) == len(set(typed))


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the state folder is root's")


@needs_root
def test_a_state_folder_that_others_could_write_is_not_used(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    folder = tmp_path / STATE_DIR.lstrip("/")
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    Store(str(tmp_path)).prepare()
    assert folder.stat().st_mode & 0o077 == 0
    os.chown(folder, 1000, 1000)
    with pytest.raises(UnsafeFolder, match="belongs to user 1000"):
        Store(str(tmp_path)).prepare()


@needs_root
def test_a_state_folder_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / STATE_DIR.lstrip("/")
    folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFolder, match="not a folder"):
        Store(str(tmp_path)).prepare()


@needs_root
def test_one_agent_at_a_time_and_a_broken_memory_is_a_fresh_one(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.lock()
    with pytest.raises(Locked):
        Store(str(tmp_path)).lock()
    store.save(Memory(state=State.READY))
    assert store.load().state is State.READY
    (store.folder / "memory.json").write_text('{"format": 1, "state"')
    assert store.load() == Memory()


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("query", "listing", "error"),
    [
        (Result(14, QUERY), Result(14, LISTING), "exit code 14: a GPU's infoROM is corrupted"),
        (
            Result(15, QUERY + "Unable to determine the device handle for GPU 0002:00:00.0: GPU is lost\n"),
            Result(0, LISTING),
            "exit code 15: a GPU has fallen off the bus or is otherwise inaccessible: "
            "Unable to determine the device handle for GPU 0002:00:00.0: GPU is lost",
        ),
        (Result(255, QUERY), Result(255, LISTING), "exit code 255"),
        (Result(0, QUERY), Result(TIMED_OUT), "-L: timed out"),
    ],
    ids=["infoROM", "off the bus", "no word", "the list takes too long"],
)
def test_a_failing_nvidia_smi_that_prints_its_report_is_explained(query: Result, listing: Result, error: str) -> None:
    smi = smi_from(query, listing)
    assert not smi.ran
    assert smi.error == error


def test_recovery_action_and_persistence_mode_are_read() -> None:
    text = (
        QUERY
        + "    Persistence Mode                      : Disabled\n    GPU Recovery Action                   : Reboot\n"
    )
    smi = smi_from(Result(0, text), Result(0, LISTING))
    assert (smi.recovery, smi.persistence) == ("Reboot", False)
    fine = smi_from(Result(0, text.replace("Reboot", "None").replace("Disabled", "Enabled")), Result(0, LISTING))
    assert (fine.recovery, fine.persistence) == ("", True)


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


@pytest.mark.parametrize(
    ("quantity", "amount"),
    [("1", 1), ("0", 0), ("1k", 1000), ("2Ki", 2048), ("1e1", 10), ("1000m", 1), ("many", 1), ("", 1), ("9" * 400, 1)],
)
def test_a_limit_is_read_whatever_it_is(quantity: str, amount: int) -> None:
    assert amount_of(quantity) == amount


@pytest.mark.parametrize(
    ("spec", "owner", "counts"),
    [
        ({"resourceClaims": [{"name": "gpu"}]}, "Job", True),
        ({"runtimeClassName": "nvidia"}, "Job", True),
        ({"runtimeClassName": "nvidia"}, "DaemonSet", False),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1k"}}}]}, "DaemonSet", True),
        ({"containers": [{"resources": {"limits": {"cpu": "1k"}}}]}, "Job", False),
    ],
    ids=["claim", "runtime class", "runtime class of a DaemonSet", "limit", "no GPU"],
)
def test_idle_pods_that_may_have_devices_count(spec: dict[str, Any], owner: str, counts: bool) -> None:
    metadata = {"namespace": "a", "name": "b", "ownerReferences": [{"kind": owner}]}
    assert uses_gpus({"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}) is counts


@pytest.mark.parametrize(
    "pod",
    [
        {},
        {"metadata": None, "spec": None, "status": None},
        {"spec": {"containers": [None, 5], "initContainers": {}}, "status": {"initContainerStatuses": [None]}},
        {"status": {"containerStatuses": [{"state": {"running": {"startedAt": "yesterday"}}}]}},
    ],
)
def test_a_pod_of_an_odd_shape_stops_nothing(pod: dict[str, Any]) -> None:
    assert pod_from(pod).begun is None
    assert not uses_gpus(pod)


BROKEN = {
    "a word for a number": {"gated_at": "soon"},
    "a number for a word": {"sentence": 5},
    "nothing for a number": {"checked_at": None},
    "no number": {"loaded_at": float("nan")},
    "a number without end": {"gated_at": 10**400},
    "a number for times": {"kicks": {"nvidia-dcgm": "now"}},
    "failures that are none": {"failures": {"unload": 3}},
    "a failure of words": {"failures": {"unload": {"count": "two"}}},
    "a failure of an unknown step": {"failures": {"dance": {"count": 2}}},
    "a target without a version": {"verified": {"urls": []}},
    "a target that is a word": {"previous": "580"},
    "a condition of numbers": {"reported": {"status": 1, "reason": 2, "message": 3}},
    "an unknown state": {"state": "asleep"},
    "an unknown step": {"begun": "dance"},
    "starts that are no pairs": {"starts": {"u": [1.0]}},
    "an unknown key": {"mood": "good"},
}


@pytest.mark.parametrize("change", BROKEN)
def test_a_memory_of_wrong_kinds_is_a_fresh_one(tmp_path: Path, change: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    document = json.loads(json.dumps(to_document(Memory(state=State.READY)))) | BROKEN[change]
    (store.folder / "memory.json").write_text(json.dumps(document))
    assert store.load() == Memory()


@pytest.mark.parametrize("text", ["[" * 100_000, "5", "null", "[]", '{"format": 1}x', "\0"])
def test_a_memory_that_is_none_is_a_fresh_one(tmp_path: Path, text: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    (store.folder / "memory.json").write_text(text)
    assert store.load() == Memory()
