"""The verdict about driver and GPUs over reports of nvidia-smi: red, green, or not known; never green from silence."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.acceptance import checks
from physical_ai.settings.facts.acceptance import Promise
from tests.support.cases import in_one_test
from tests.support.smi_reports import MODULES, Lines, Printed, changed, mig_gpu, older_gpu, vgpu, volta_gpu, whole_gpu
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge
from workbench.health.acceptance.record import CheckResult

FIXTURES = Path("tests/fixtures/acceptance")
H100 = FIXTURES / "h100"


def judged(text: str, code: int = 0, mig: Any = "Disabled", *, licensed: bool = False, driver: str = "") -> CheckResult:
    promised = Promise(driver or None, "open", mig, licensed=licensed, persistence=True, resources={})
    return judge(checks()["stack"], JobOutcome(text, code), NodeBaseline(promised, 1, {}, None))


@pytest.mark.parametrize(
    ("printed", "mig", "licensed"),
    [
        (Printed(), "Disabled", False),
        (Printed([whole_gpu()] * 8), "Disabled", False),
        (Printed([mig_gpu()], "590.48.01"), "Enabled", False),
        (Printed([older_gpu()], "545.23.08"), "Disabled", False),
        (Printed([volta_gpu()], "535.216.01"), "Disabled", False),
        (Printed([vgpu()], "595.91.07"), "Disabled", True),
        (Printed(driver="610.57.04 [Deprecated]", head={"KMD Version": "610.57.04"}), "Disabled", False),
    ],
    ids=["580", "eight", "MIG", "545", "Volta", "vGPU", "610"],
)
def test_healthy_nodes_of_all_kinds_pass(printed: Printed, mig: str, licensed: bool) -> None:
    result = judged(printed.text, mig=mig, licensed=licensed, driver=printed.driver.split()[0])
    assert result.verdict == "passed", result.message


@pytest.mark.parametrize("name", ["smi.txt", "smi-after-faults.txt", "smi.xml"])
def test_a_real_h100_passes(name: str) -> None:
    text = (H100 / name).read_text()
    whole = text if "NVRM version" in text else text + MODULES.format(driver="580.159.04")
    assert judged(whole, driver="580.159.04").message == "driver 580.159.04, NVIDIA H100 80GB HBM3"


@in_one_test(
    ("path", "value", "words"),
    [
        (("ECC Errors", "Volatile", "SRAM Uncorrectable SEC-DED"), "5", "5 uncorrectable memory errors"),
        (("ECC Errors", "Volatile", "DRAM Uncorrectable"), "5", "5 uncorrectable memory errors"),
        (("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"), "Yes", "errors of SRAM in the GPU's life"),
        (("ECC Errors", "Channel Repair Pending"), "Yes", "a repair is pending (Channel)"),
        (("ECC Errors", "TPC Repair Pending"), "GPU requires reset", "GPU requires reset"),
        (("ECC Errors", "Unrepairable Memory"), "Yes", "memory cannot be repaired"),
        (("GPU Recovery Action",), "Node Reboot", "the driver asks for a recovery: Node Reboot"),
        (("MIG Mode", "Current"), "Disabled", "MIG mode is Disabled"),
        (("MIG Mode", "Pending"), "Disabled", "MIG mode is Disabled after the next reset"),
        (("Persistence Mode",), "Disabled", "persistence mode is off"),
    ],
)
def test_a_fault_of_one_gpu_of_several_fails_in_mig_mode_too(path: tuple[str, ...], value: str, words: str) -> None:
    text = Printed([mig_gpu(), changed(mig_gpu(), path, value), mig_gpu()], "590.48.01").text
    result = judged(text, mig="Enabled")
    assert result.verdict == "failed", result
    assert f"GPU 00000002:00:00.0: {words}" in result.message or words in result.message
    assert "00000001" not in result.message


@pytest.mark.parametrize(
    ("gpu", "words"),
    [
        (changed(volta_gpu(), ("Retired Pages", "Pending Page Blacklist"), "Yes"), "a memory page waits to be retired"),
        (changed(older_gpu(), ("Remapped Rows", "Pending"), "Yes"), "a memory row waits to be remapped"),
        (changed(older_gpu(), ("GPU Reset Status", "Reset Required"), "Yes"), "asks for a recovery: Reset"),
    ],
)
def test_faults_of_older_gpus_and_drivers_fail(gpu: Lines, words: str) -> None:
    result = judged(Printed([gpu], "535.216.01").text)
    assert (result.verdict, words in result.message) == ("failed", True), result


@pytest.mark.parametrize("licence", ["Unlicensed", "Unlicensed (Unrestricted)", "N/A (Expiry: N/A)", "ERR!"])
def test_a_vgpu_without_a_licence_fails(licence: str) -> None:
    assert judged(Printed([vgpu(licence)]).text, licensed=True).verdict == "failed"


def test_drain_p2p_is_no_fault_of_the_gpu_and_is_said() -> None:
    result = judged(Printed([whole_gpu(**{"GPU Recovery Action": "Drain P2P"})]).text)
    assert (result.verdict, "reaches no peer" in result.message) == ("passed", True)


@pytest.mark.parametrize(
    "path",
    [("ECC Errors",), ("Remapped Rows",), ("GPU Recovery Action",), ("MIG Mode",), ("Persistence Mode",)],
    ids=lambda path: path[0],
)
def test_silence_is_not_health(path: tuple[str, ...]) -> None:
    result = judged(Printed([whole_gpu(), changed(whole_gpu(), path, None)]).text)
    assert (result.verdict, "GPU 00000002:00:00.0: there is no line" in result.message) == ("no-verdict", True), result


@in_one_test("value", ["ERR!", "[Unknown Error]", "perhaps"])
@in_one_test(
    "path",
    [
        ("MIG Mode", "Current"),
        ("Persistence Mode",),
        ("Remapped Rows", "Pending"),
        ("ECC Errors", "Volatile", "DRAM Uncorrectable"),
    ],
    ids=lambda path: path[-1],
)
def test_words_that_are_not_known_are_no_verdict_and_named(path: tuple[str, ...], value: str) -> None:
    result = judged(Printed([changed(whole_gpu(), path, value)]).text)
    assert result.verdict == "no-verdict"
    assert f"{path[-1]} : {value}" in result.message
    assert "line " in result.message


@in_one_test(
    ("text", "code", "verdict", "words"),
    [
        ("No devices were found\n", 6, "failed", "No devices were found"),
        (Printed().text, 14, "failed", "infoROM is corrupted"),
        (Printed().text, 15, "failed", "fallen off the bus"),
        (Printed().text, 255, "no-verdict", "exit code 255"),
        (Printed(head={"Attached GPUs": "2"}).text, 0, "no-verdict", "the report has 1 GPUs"),
        (
            Printed(after="Unable to determine the device handle for GPU 0002:00:00.0: GPU is lost\n").text,
            15,
            "failed",
            "0002:00:00.0: GPU is lost",
        ),
        (Printed(after=MODULES + "WARNING: something failed\n").text, 0, "no-verdict", "WARNING: something failed"),
        (Printed(after="").text, 0, "no-verdict", "version does not follow"),
        (Printed(after="NVRM version: ???\n").text, 0, "no-verdict", "version does not follow"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9, "no-verdict", "failed"),
        ("Failed to initialize NVML: GPU access blocked by the operating system\n", 17, "no-verdict", "blocked"),
    ],
)
def test_what_nvidia_smi_says_instead_counts(text: str, code: int, verdict: str, words: str) -> None:
    result = judged(text, code)
    assert (result.verdict, words in result.message) == (verdict, True), result


def test_no_control_character_reaches_a_result() -> None:
    for text in ("\x1b[31mNo devices were found\x07\n", "\x1b]0;x\x07 broken\n"):
        assert judged(text, 6).message.isprintable()


def test_recordings_are_as_they_were_recorded() -> None:
    lines = (H100 / "SHA256SUMS").read_text().splitlines()
    recorded = {name: digest for digest, name in (line.split() for line in lines)}
    there = {path.name: path for path in H100.iterdir() if path.name != "SHA256SUMS"}
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()} == recorded
