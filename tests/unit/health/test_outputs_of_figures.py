"""What nccl-tests, NCCL and nvbandwidth print: numbers in all their forms, other adapters, tests that were waived."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.catalog.acceptance import checks
from physical_ai.settings.facts.acceptance import Promise
from tests.support.cases import in_one_test
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge
from workbench.health.acceptance.outputs.bandwidth import read_nvbandwidth
from workbench.health.acceptance.outputs.graphics import read_libraries, read_vulkaninfo
from workbench.health.acceptance.outputs.nccl import Nccl, read_nccl
from workbench.health.acceptance.outputs.transport import read_transport
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.outputs.vector_add import read_vector_add

FIXTURES = Path("tests/fixtures/acceptance")
H100 = FIXTURES / "h100"
DIRECTIONS = ["host_to_device_memcpy_ce", "device_to_host_memcpy_ce"]
PEERS = "device_to_device_memcpy_read_ce"
TABLE = (FIXTURES / "all-reduce.txt").read_text()
PREFIX = "host-1:41:57 [0] NCCL INFO"


def test_what_the_programs_print_on_a_real_h100_is_read() -> None:
    text = (H100 / "all-reduce.txt").read_text()
    assert read_nccl(text) == Nccl(ranks=1, rows=30, wrong=0, bus_gb_s=0.0)
    assert read_transport(text).networks == {"Socket"}
    found = read_nvbandwidth((H100 / "nvbandwidth.txt").read_text(), DIRECTIONS)
    assert found == {DIRECTIONS[0]: [54.26], DIRECTIONS[1]: [54.95]}
    assert read_vector_add((H100 / "vector-add.txt").read_text()) == ""
    assert "no CUDA-capable device" in read_vector_add((H100 / "vector-add-no-device.txt").read_text())
    assert next(each.is_nvidia for each in read_vulkaninfo((H100 / "vulkaninfo.txt").read_text()))
    libraries = read_libraries((H100 / "graphics-libraries.txt").read_text())
    assert libraries.icd
    assert libraries.glx


@pytest.mark.parametrize(
    ("cell", "verdict", "wrong"),
    [("      8", "8 FAILED", 16), ("1.23457e+06", "1234567 FAILED", 2469137), ("  1e+07", "1 FAILED", 10000001)],
)
def test_wrong_elements_are_counted_as_they_are_printed(cell: str, verdict: str, wrong: int) -> None:
    text = TABLE.replace("24.83      0", f"24.83  {cell}").replace("0 OK", verdict)
    assert read_nccl(text).wrong == wrong


def test_wrong_values_count_also_where_the_elements_were_not_checked() -> None:
    unchecked = TABLE.replace("      0  ", "    N/A  ")
    assert read_nccl(unchecked.replace("0 OK", "1 FAILED")).wrong == 1
    with pytest.raises(Unrecognised, match="run it with -c 1"):
        read_nccl(unchecked)


@pytest.mark.parametrize(
    ("printed", "average"), [("8.1e-05", 8.1e-05), ("1.2e+03", 1200.0), ("0", 0.0), ("26 OK", 26.0)]
)
def test_the_average_is_read_as_it_is_printed(printed: str, average: float) -> None:
    assert read_nccl(TABLE.replace("26.1975", printed)).bus_gb_s == average


@pytest.mark.parametrize(
    "text",
    [
        TABLE.replace("26.1975", "nan"),
        TABLE.replace("26.1975", "inf"),
        TABLE.replace("26.1975", "26,1975"),
        TABLE.replace("24.83      0", "24.83    inf"),
        TABLE.replace("24.83      0", "24.83       "),
        TABLE.replace("0 OK", "many FAILED"),
        "".join(line for line in TABLE.splitlines(keepends=True) if not line.startswith("  8589934592")),
        "".join(line for line in TABLE.splitlines(keepends=True) if not line.startswith("   536870912")),
    ],
    ids=["nan", "inf", "comma", "wrong inf", "cut row", "count", "no last size", "no first size"],
)
def test_a_table_with_something_else_in_it_is_refused(text: str) -> None:
    assert text != TABLE
    with pytest.raises(Unrecognised):
        read_nccl(text)


@in_one_test(
    ("line", "count"),
    [
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.4<0>", 2),
        ("[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} [1]={[2] mlx5_2:1/IB, [3] mlx5_3:1/IB} [RO]; OOB eth0:10.0.0.4<0>", 4),
        ("[0]={[0] mlx5_0:1/IB, [1] mlx5_0:2/IB} [RO]; OOB eth0:10.0.0.4<0>", 1),
        ("[0]mlx5_0:1:0/IB [1]mlx5_1:1::2/IB [2]mlx5_2:1:3:4/IB [RO]; OOB eth0:10.0.0.4<0>", 3),
        ("[0]mlx5_ib0:1/IB [1]rocep1:1/RoCE [RO]; OOB eth0:10.0.0.4<0>", 1),
        ("[RO]; OOB eth0:10.0.0.4<0>", None),
    ],
    ids=["one port", "merged", "two ports of one", "rails and planes", "RoCE", "none"],
)
@in_one_test("before", ["", "[1,0]<stdout>:", "[2026-11-27 12:00:00] "], ids=["plain", "mpirun", "time"])
def test_adapters_of_every_form_are_counted(before: str, line: str, count: int | None) -> None:
    assert read_transport(f"{before}{PREFIX} NET/IB : Using {line}\n").adapters.get("host-1") == count


@in_one_test("name", ["IB", "Socket", "AWS Libfabric", "GPUDirectTCPX_v7", "IBext_v8"])
@in_one_test("end", ["\n", "\r\n", " \n"])
def test_a_network_has_its_whole_name(name: str, end: str) -> None:
    text = f"{PREFIX} Assigned NET plugin {name} to comm{end}{PREFIX} Using network {name}{end}"
    said = read_transport(
        f"{text}{PREFIX} Channel 00/0 : 0[0] -> 8[0] [send] via NET/{name}/0(3)/GDRDMA(PCI)/Shared{end}"
    )
    assert (said.networks, said.direct) == ({name}, True)
    assert read_transport(f"{PREFIX} Channel 00/0 : 0[0] -> 8[0] [send] via NET/{name}/0{end}").direct is False


def test_a_test_that_was_waived_is_named() -> None:
    text = (H100 / "nvbandwidth-waived.txt").read_text()
    assert set(read_nvbandwidth(text, DIRECTIONS)) == set(DIRECTIONS)
    with pytest.raises(Unrecognised, match=f"nvbandwidth waived {PEERS}"):
        read_nvbandwidth(text, [*DIRECTIONS, PEERS])
    with pytest.raises(Unrecognised, match=f"nvbandwidth waived {PEERS}"):
        read_nvbandwidth(f"{text}Running {PEERS}.\nWaived\n", [PEERS])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" 1    371.19", " 1       N/A"),
        (" 1    371.19", " 7    371.19"),
        ("           0         1", "           0         2"),
    ],
    ids=["gap between peers", "row", "column"],
)
def test_a_matrix_with_a_gap_is_no_measurement(old: str, new: str) -> None:
    text = (FIXTURES / "nvbandwidth-peers.txt").read_text()
    assert old in text
    with pytest.raises(Unrecognised):
        read_nvbandwidth(text.replace(old, new), [*DIRECTIONS, PEERS])


@pytest.mark.parametrize(("name", "sample"), [("nccl", "all-reduce.txt"), ("vector-add", "vector-add.txt")])
def test_a_program_that_ends_with_an_error_has_not_passed(name: str, sample: str) -> None:
    promised = Promise(None, None, "Disabled", licensed=False, persistence=False, resources={})
    given, text = NodeBaseline(promised, 4, {}, None), (FIXTURES / sample).read_text()
    assert judge(checks()[name], JobOutcome(text, 0), given).verdict == "passed"
    result = judge(checks()[name], JobOutcome(text, 139), given)
    assert (result.verdict, "exit code 139" in result.message) == ("no-verdict", True)
