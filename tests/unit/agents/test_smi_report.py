"""nvidia-smi's report by kinds of driver and GPU: what is read of it, and what is not known from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grid_agent.report.reading import read_report, spelled
from grid_agent.report.tree import Unreadable
from tests.support.cases import in_one_test
from tests.support.smi_reports import Lines, Printed, changed, mig_gpu, older_gpu, vgpu, volta_gpu, whole_gpu

H100 = Path("tests/fixtures/acceptance/h100")
REMARK = " [Deprecated; another line has it]"
KINDS: dict[str, Printed] = {
    "580 whole": Printed(),
    "590 MIG": Printed([mig_gpu()], "590.48.01"),
    "590 MIG without devices": Printed([mig_gpu(0)], "590.48.01"),
    "545 plain counts": Printed([older_gpu()], "545.23.08"),
    "535 Volta": Printed([volta_gpu()], "535.216.01"),
    "535 vGPU": Printed([vgpu()], "535.216.01", {"Attached vGPUs": "1"}),
    "595 vGPU": Printed([vgpu()], "595.91.07"),
    "610": Printed([whole_gpu()], "610.57.04" + REMARK, {"KMD Version": "610.57.04", "CUDA UMD Version": "13.3"}),
    "eight": Printed([whole_gpu()] * 8, "580.159.04"),
    "no ECC": Printed([vgpu("Unlicensed (Restricted)")]),
    "570, both lines": Printed(
        [
            older_gpu(
                **{
                    "GPU Recovery Action": "None",
                    "GPU Reset Status": {"Reset Required": "Requested functionality has been deprecated"},
                }
            )
        ],
        "570.86.10",
    ),
}


@in_one_test("kind", KINDS)
def test_nothing_is_unknown_of_a_gpu_of_a_known_kind(kind: str) -> None:
    report = read_report(KINDS[kind].text)
    assert (report.problems, report.warnings) == ([], [])
    assert report.driver == KINDS[kind].driver.split()[0]
    assert [(gpu.unknown, gpu.lost, gpu.needs, gpu.uncorrectable) for gpu in report.gpus] == [
        ((), (), "", 0) for _ in KINDS[kind].gpus
    ]


@pytest.mark.parametrize("name", ["smi.txt", "smi-after-faults.txt", "smi.xml"])
def test_text_and_xml_of_a_real_h100_say_the_same(name: str) -> None:
    report = read_report((H100 / name).read_text())
    (gpu,) = report.gpus
    assert (report.driver, report.problems, gpu.unknown) == ("580.159.04", [], ())
    assert gpu == read_report((H100 / "smi.txt").read_text()).gpus[0]
    assert (gpu.product, gpu.mig, gpu.recovery, gpu.counts_errors) == (
        "NVIDIA H100 80GB HBM3",
        "Disabled",
        "None",
        True,
    )


FAULTS: dict[str, tuple[tuple[str, ...], str, str, Any]] = {
    "SEC-DED": (("ECC Errors", "Volatile", "SRAM Uncorrectable SEC-DED"), "5", "uncorrectable", 5),
    "parity": (("ECC Errors", "Volatile", "SRAM Uncorrectable Parity"), "5", "uncorrectable", 5),
    "DRAM": (("ECC Errors", "Volatile", "DRAM Uncorrectable"), "7", "uncorrectable", 7),
    "threshold": (("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"), "Yes", "threshold_exceeded", "Yes"),
    "channel": (("ECC Errors", "Channel Repair Pending"), "Yes", "repairs_pending", ["Channel"]),
    "TPC": (("ECC Errors", "TPC Repair Pending"), "Yes", "repairs_pending", ["TPC"]),
    "unrepairable": (("ECC Errors", "Unrepairable Memory"), "Yes", "unrepairable", "Yes"),
    "action": (("GPU Recovery Action",), "GPU_RESET", "needs", "GPU_RESET"),
}


@in_one_test("gpu", [whole_gpu(), mig_gpu()], ids=["whole", "MIG"])
@in_one_test("fault", FAULTS)
def test_faults_are_those_of_the_gpu_and_not_of_its_mig_devices(gpu: Lines, fault: str) -> None:
    path, value, attribute, expected = FAULTS[fault]
    report = read_report(Printed([whole_gpu(), changed(gpu, path, value)]).text)
    assert getattr(report.gpus[1], attribute) == expected
    assert not getattr(report.gpus[0], attribute) or getattr(report.gpus[0], attribute) == "No"


def test_errors_of_a_mig_device_count_for_its_gpu() -> None:
    broken = {"Index": "1", "ECC Errors": {"Volatile": {"SRAM Uncorrectable": "3"}}}
    gpu = mig_gpu()
    gpu["MIG Device"] = [*gpu["MIG Device"], broken]
    (read,) = read_report(Printed([gpu]).text).gpus
    assert (read.uncorrectable, read.mig_devices) == (3, 3)


@in_one_test(
    ("gpu", "attribute", "expected"),
    [
        (older_gpu(**{"GPU Reset Status": {"Reset Required": "Yes"}}), "needs", "Reset"),
        (older_gpu(**{"GPU Reset Status": {"Drain and Reset Recommended": "Yes"}}), "needs", "Drain and Reset"),
        (changed(volta_gpu(), ("Retired Pages", "Pending Page Blacklist"), "Yes"), "retirement_pending", "Yes"),
        (changed(volta_gpu(), ("ECC Errors", "Volatile", "Double Bit", "Total"), "2"), "uncorrectable", 2),
        (changed(volta_gpu(), ("ECC Errors", "Volatile", "Double Bit", "Device Memory"), "2"), "uncorrectable", 2),
        (changed(whole_gpu(), ("Remapped Rows", "Pending"), "Yes"), "remap_pending", "Yes"),
        (changed(whole_gpu(), ("Remapped Rows", "Remapping Failure Occurred"), "Yes"), "remap_failed", "Yes"),
        (changed(whole_gpu(), ("MIG Mode", "Pending"), "Enabled"), "mig_pending", "Enabled"),
        (vgpu("Unlicensed (Unrestricted)"), "licence", "Unlicensed"),
        (vgpu("N/A (Expiry: N/A)"), "licence", ""),
        (changed(whole_gpu(), ("ECC Errors", "TPC Repair Pending"), "GPU requires reset"), "needs", None),
        (whole_gpu(Temperature={"GPU Current Temp": "GPU is lost"}), "needs", None),
    ],
)
def test_other_faults_are_read_where_their_kind_of_gpu_has_them(gpu: Lines, attribute: str, expected: Any) -> None:
    (read,) = read_report(Printed([gpu]).text).gpus
    assert getattr(read, attribute) == expected or (expected is None and read.lost[0] == read.needs)


@pytest.mark.parametrize("action", ["None", "NONE", "N/A", "[N/A]", "Drain P2P", "DRAIN_P2P", "Not Supported"])
def test_a_gpu_without_a_need_can_run_programs(action: str) -> None:
    assert read_report(Printed([whole_gpu(**{"GPU Recovery Action": action})]).text).gpus[0].needs == ""


@in_one_test(
    "action",
    [
        "Reset",
        "Reboot",
        "Drain and Reset",
        "GPU_RESET",
        "GPU Reset",
        "Node Reboot",
        "NODE_REBOOT",
        "Power Cycle",
        "ERR!",
    ],
)
def test_any_other_recovery_action_is_that_of_a_failed_gpu(action: str) -> None:
    assert read_report(Printed([whole_gpu(**{"GPU Recovery Action": action})]).text).gpus[0].needs == action
    assert spelled("GPU_RESET") == "gpu reset"


REQUIRED = [
    ("Product Name",),
    ("Persistence Mode",),
    ("MIG Mode",),
    ("MIG Mode", "Current"),
    ("GPU Recovery Action",),
    ("ECC Errors",),
    ("ECC Errors", "Volatile"),
    ("ECC Errors", "Volatile", "SRAM Uncorrectable Parity"),
    ("ECC Errors", "Volatile", "SRAM Uncorrectable SEC-DED"),
    ("ECC Errors", "Volatile", "DRAM Uncorrectable"),
    ("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"),
    ("ECC Errors", "Channel Repair Pending"),
    ("ECC Errors", "TPC Repair Pending"),
    ("ECC Errors", "Unrepairable Memory"),
    ("Remapped Rows",),
    ("Remapped Rows", "Pending"),
    ("Remapped Rows", "Remapping Failure Occurred"),
]


@in_one_test("path", REQUIRED, ids=", ".join)
def test_what_a_report_should_say_and_does_not_is_unknown(path: tuple[str, ...]) -> None:
    (gpu,) = read_report(Printed([changed(whole_gpu(), path, None)]).text).gpus
    assert any("there is no line" in each for each in gpu.unknown), gpu.unknown


@in_one_test("value", ["ERR!", "[Unknown Error]", "Unknown Error", "perhaps", "-1", "1e3", "\x00No", "９"])
@in_one_test("path", [each for each in REQUIRED if len(each) > 1], ids=", ".join)
def test_a_value_in_other_words_is_unknown_and_named_with_its_line(path: tuple[str, ...], value: str) -> None:
    if path == ("ECC Errors", "Volatile"):
        return
    text = Printed([changed(whole_gpu(), path, value)]).text
    line = next(number for number, each in enumerate(text.split("\n"), 1) if each.endswith(f": {value}"))
    (gpu,) = read_report(text).gpus
    assert any(each.startswith(f"line {line} is ") for each in gpu.unknown), gpu.unknown


@in_one_test("line", ["Aggregate", "ECC Errors", "Channel Repair Pending", "DRAM Uncorrectable"])
@in_one_test("by", [-8, -4, 4, 8])
def test_a_line_in_another_place_than_its_own_is_unknown(line: str, by: int) -> None:
    """A section that is lost or moved makes its lines those of another one: the repairs below it were not missed."""
    lines = Printed([whole_gpu()]).text.split("\n")
    place = min(number for number, each in enumerate(lines) if each.strip().split(" : ")[0].strip() == line)
    depth = len(lines[place]) - len(lines[place].lstrip())
    moved = " " * max(0, depth + by) + lines[place].lstrip()
    for changed_lines in ([*lines[:place], moved, *lines[place + 1 :]], [*lines[:place], *lines[place + 1 :]]):
        report = read_report("\n".join(changed_lines))
        if changed_lines != lines:
            assert report.gpus[0].unknown, (line, by)


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        (Printed(head={"Attached GPUs": "2"}), "the report has 1 GPUs, and line 6 is 'Attached GPUs : 2'"),
        (Printed([]), "no GPU is attached"),
        (Printed(driver="unknown"), "no driver version is known: line 4 is 'Driver Version : unknown'"),
        (Printed(driver="610.57.04", head={"KMD Version": "N/A"}), "no driver version is known"),
    ],
)
def test_a_report_that_contradicts_itself_is_a_problem(printed: Printed, words: str) -> None:
    assert words in read_report(printed.text).problems[0] + "".join(read_report(printed.text).problems)


def test_a_gpu_that_stands_twice_and_heads_that_differ_are_problems() -> None:
    text = Printed([whole_gpu()] * 2).text
    assert "more than once" in read_report(text.replace("GPU 00000002", "GPU 00000001")).problems[0]
    assert read_report(text.replace("Attached", "Driver Version : 1.2\nAttached", 1)).problems


@pytest.mark.parametrize("text", ["", "\n", "No devices were found\n", "GPU 00000001:00:00.0\n", "\x00\x00", "<a>"])
def test_other_text_is_no_report(text: str) -> None:
    with pytest.raises(Unreadable):
        read_report(text)


def test_names_of_processes_take_the_place_of_no_line() -> None:
    """As an H100 with driver 580.159.04 printed them: escaped in XML but for control characters, in text not at all."""
    name = "evil\n    GPU Recovery Action                                : Reboot"
    processes = {"Processes": {"Process ID": {"Name": name}}, "Capabilities": {"EGM": "disabled"}}
    (gpu,) = read_report(Printed([whole_gpu(**processes)]).text).gpus
    assert (gpu.recovery, gpu.needs, gpu.unknown) == ("None", "", ())
    forged = read_report(Printed([whole_gpu(Processes={"Name": "x\nGPU 00000009:00:00.0"})]).text)
    assert "the report has 2 GPUs" in forged.problems[0]
    xml = (H100 / "smi.xml").read_text()
    for process in ("e\x1b[31m\x07x&lt;gpu&gt;\udcff\nGPU Recovery Action : Reboot", "GPU is lost", "Unknown Error"):
        listed = f"<process_info><process_name>{process}</process_name>"
        report = read_report(xml.replace("<processes>", f"<processes>{listed}</process_info>"))
        assert report == read_report(xml)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda xml: xml[: len(xml) // 2], "ends at line"),
        (lambda xml: xml.replace("</gpu>", ""), "is not well-formed"),
        (lambda xml: xml.replace("<ecc_errors>", "<x>" * 40), "nested too deep"),
        (
            lambda xml: xml.replace("<!DOCTYPE", "<!DOCTYPE a [<!ENTITY b 'c'>]><!--").replace('dtd">', 'dtd">-->'),
            "entities",
        ),
    ],
    ids=["half", "unclosed", "deep", "entities"],
)
def test_xml_that_is_not_whole_is_no_report(change: Any, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read_report(change((H100 / "smi.xml").read_text()))


def test_warnings_beside_a_report_are_kept() -> None:
    warning = "WARNING: infoROM is corrupted at gpu 0000:00:06.0"
    for text in (Printed(after=f"{warning}\n").text, f"{warning}\n{(H100 / 'smi.xml').read_text()}"):
        assert read_report(text).warnings == [warning]
