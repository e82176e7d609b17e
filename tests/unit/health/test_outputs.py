"""What the tools of acceptance print, as samples in documentation have it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grid_agent.facts import Smi
from grid_agent.shell import Result
from grid_agent.smi import smi_from
from workbench.health.acceptance.outputs.bandwidth import read_nvbandwidth
from workbench.health.acceptance.outputs.diag import DiagTest, read_diag
from workbench.health.acceptance.outputs.graphics import read_isaac_sim, read_libraries, read_vulkaninfo
from workbench.health.acceptance.outputs.nccl import Nccl, read_nccl
from workbench.health.acceptance.outputs.smi import read_smi
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.outputs.vector_add import read_vector_add

FIXTURES = Path("tests/fixtures/acceptance")
DIRECTIONS = ["host_to_device_memcpy_ce", "device_to_host_memcpy_ce"]
PEERS = "device_to_device_memcpy_read_ce"


def sample(name: str) -> str:
    return (FIXTURES / name).read_text()


def test_dcgm_4_reports_by_entity() -> None:
    found = read_diag(sample("dcgm-4-persistence.json"))
    assert found.version == "4.2.3"
    assert found.tests == [DiagTest("software", "fail", "GPU 0", ["Persistence mode for GPU 0 is disabled."])]


def test_dcgm_3_reports_by_gpu_after_a_line_of_text() -> None:
    found = read_diag(sample("dcgm-3-memory.json"))
    assert found.version == "3.3.9"
    assert [(each.name, each.status, each.where) for each in found.tests] == [
        ("Denylist", "pass", "GPU 0,1"),
        ("Graphics Processes", "skip", "GPU 0,1"),
        ("GPU Memory", "pass", "GPU 0"),
        ("GPU Memory", "fail", "GPU 1"),
    ]
    assert found.tests[-1].warnings == ["A DBE occurred on GPU 1."]


def test_a_summary_that_says_more_than_the_results_counts() -> None:
    text = sample("dcgm-4-persistence.json").replace(
        '"status" : "Fail",\n\t\t\t\t\t\t\t\t"warnings"', '"status" : "Pass", "warnings"', 1
    )
    assert {each.status for each in read_diag(text).tests} == {"pass", "fail"}


def test_nvbandwidth_lists_each_gpu_and_each_pair() -> None:
    found = read_nvbandwidth(sample("nvbandwidth-peers.txt"), [*DIRECTIONS, PEERS])
    assert found == {DIRECTIONS[0]: [55.59, 55.6], DIRECTIONS[1]: [57.29, 51.02], PEERS: [371.07, 371.19]}
    assert read_nvbandwidth(sample("nvbandwidth-one.txt"), DIRECTIONS) == {
        DIRECTIONS[0]: [25.17],
        DIRECTIONS[1]: [26.31],
    }


def test_nccl_counts_ranks_and_wrong_elements() -> None:
    assert read_nccl(sample("all-reduce.txt")) == Nccl(ranks=4, rows=2, wrong=0, bus_gb_s=26.1975)
    assert read_nccl(sample("all-reduce-wrong.txt")).wrong == 9


def test_vulkaninfo_lists_devices_with_their_extensions() -> None:
    gpu, software = read_vulkaninfo(sample("vulkaninfo.txt"))
    assert gpu.name == "NVIDIA RTX PRO 6000 Blackwell DC-4-96Q"
    assert gpu.is_nvidia
    assert "VK_KHR_ray_tracing_pipeline" in gpu.extensions
    assert len(gpu.extensions) == 5
    assert not software.is_nvidia


def test_nvidia_smi_of_a_whole_gpu() -> None:
    found = read_smi(sample("smi-h100.txt"))
    (gpu,) = found.gpus
    assert (found.driver, found.modules) == ("580.173.02", "open")
    assert (gpu.product, gpu.mig, gpu.persistence, gpu.licence) == ("NVIDIA H100 NVL", "Disabled", "Enabled", "")
    assert (gpu.remap_pending, gpu.remap_failed, gpu.recovery) == ("Yes", "No", "None")
    assert gpu.uncorrectable == 2  # not the aggregate, which outlives the driver


def test_nvidia_smi_as_it_was_recorded() -> None:
    found = read_smi(sample("smi-h200.txt"))
    (gpu,) = found.gpus
    assert (found.driver, found.modules) == ("580.159.04", "open")
    assert (gpu.address, gpu.product, gpu.mig, gpu.persistence) == (
        "00000000:00:06.0",
        "NVIDIA H200",
        "Disabled",
        "Enabled",
    )
    assert (gpu.licence, gpu.recovery, gpu.remap_pending, gpu.remap_failed) == ("", "None", "No", "No")
    assert (gpu.unrepairable, gpu.threshold_exceeded, gpu.repairs_pending, gpu.uncorrectable) == ("No", "No", [], 0)


def test_the_grid_agent_reads_the_recording_too() -> None:
    listing = "GPU 0: NVIDIA H200 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n"
    found = smi_from(Result(0, sample("smi-h200.txt")), Result(0, listing))
    assert found == Smi(found=True, ran=True, version="580.159.04", devices=1, mig="disabled")


def test_nvidia_smi_of_a_vgpu() -> None:
    (gpu,) = read_smi(sample("smi-vgpu.txt")).gpus
    assert (gpu.mig, gpu.licence, gpu.recovery, gpu.uncorrectable) == ("Enabled", "Licensed", "", 0)


def test_vector_add() -> None:
    assert read_vector_add(sample("vector-add.txt")) == ""
    failed = "[Vector addition of 50000 elements]\nFailed to allocate device vector A (error code no device)!\n"
    assert "no device" in read_vector_add(failed)


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (read_diag, "dcgm-4-persistence.json"),
        (lambda text: read_nvbandwidth(text, [*DIRECTIONS, PEERS]), "nvbandwidth-peers.txt"),
        (read_nccl, "all-reduce.txt"),
        (read_vulkaninfo, "vulkaninfo.txt"),
        (read_smi, "smi-h100.txt"),
        (read_vector_add, "vector-add.txt"),
        (read_libraries, "vector-add.txt"),
        (read_isaac_sim, "vector-add.txt"),
    ],
    ids=["diag", "nvbandwidth", "nccl", "vulkan", "smi", "vector-add", "libraries", "isaac-sim"],
)
def test_half_an_output_and_other_text_are_refused(read: Callable[[str], object], name: str) -> None:
    text = sample(name)
    for wrong in (
        "",
        "\n",
        "Error: could not open /dev/nvidiactl",
        "{}",
        "[]",
        '{"DCGM Diagnostic": {}}',
        text[: len(text) // 4],
    ):
        with pytest.raises(Unrecognised):
            read(wrong)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (sample("dcgm-4-persistence.json").replace('"Fail"', '"Inconclusive"'), read_diag),
        (sample("dcgm-4-persistence.json").replace('"tests"', '"checks"'), read_diag),
        (sample("all-reduce.txt").replace("      0  ", "    N/A  "), read_nccl),
        (sample("smi-h100.txt").replace(": 1\nGPU", ": 2\nGPU"), read_smi),
        (sample("vulkaninfo.txt").replace("count = 5", "count = 6"), read_vulkaninfo),
        (sample("nvbandwidth-one.txt").replace("25.17", "nan", 1), lambda text: read_nvbandwidth(text, DIRECTIONS)),
        (sample("nvbandwidth-one.txt").replace("(GB/s)", "(MB/s)"), lambda text: read_nvbandwidth(text, DIRECTIONS)),
        (
            sample("nvbandwidth-peers.txt").replace(" 1    371.19       N/A\n", ""),
            lambda text: read_nvbandwidth(text, [PEERS]),
        ),
    ],
    ids=["status", "form", "unchecked", "gpus", "extensions", "number", "unit", "row"],
)
def test_what_is_not_known_is_refused(text: str, read: Callable[[str], object]) -> None:
    with pytest.raises(Unrecognised):
        read(text)
