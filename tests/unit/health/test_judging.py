"""Each check on each kind of node: green on a healthy one, and red for each way in which it can fail."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import vm_size
from physical_ai.catalog.acceptance import Floor, checks, floors
from physical_ai.planning.acceptance import pod_spec
from physical_ai.settings import Settings, load
from physical_ai.settings.facts.acceptance import Promise, not_for, promise
from physical_ai.settings.models.node_pools import Pool
from simulator.acceptance.machine import Machine
from simulator.acceptance.programs import run
from simulator.acceptance.smi import nvidia_smi
from simulator.faults import NO_FAULTS
from simulator.faults.defects import DEFECT_NAMES
from simulator.faults.record import Injected, NodeFaults, annotation, node_faults
from simulator.gpu.hardware import of_size
from simulator.gpu.node_state import Host, NodeState
from simulator.gpu.sharing import devices
from tests.support.cases import in_one_test
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge
from workbench.health.acceptance.record import CheckResult

H100, H100_PAIR, RTX = "Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"
A100_PAIR = "Standard_NC48ads_A100_v4"


@dataclass(frozen=True)
class Node:
    """A simulated node, and what acceptance knows of it."""

    machine: Machine
    settings: Settings
    pool: Pool
    baseline: dict[str, float]

    def check(self, name: str) -> CheckResult:
        check = checks()[name]
        assert not not_for(check, self.pool)
        container: Any = pod_spec(check, self.pool, f"example.azurecr.io/vectoradd/{check.image}", tolerations=[])[
            "containers"
        ][0]
        count = sum(int(each) for each in container["resources"]["limits"].values())
        graphics = container["env"][0]["value"] == "all"
        machine = replace(self.machine, gpus=tuple(range(count)), graphics=graphics)
        code, log = run(container, machine)
        promised = promise(self.settings, self.pool)
        given = NodeBaseline(
            promised, self.machine.state.hardware.gpus, promised.resources, floors().get(self.pool.sku), self.baseline
        )
        return judge(check, JobOutcome(log, code), given)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load("dev-westus2").settings


def node(
    settings: Settings,
    sku: str,
    *defects: str,
    faults: NodeFaults = NO_FAULTS,
    baseline: dict[str, float] | None = None,
) -> Node:
    own = settings.pools["rtxprogpu" if sku == RTX else "h100gpu"]
    pool = own.model_copy(update={"sku": sku})
    hardware = of_size(vm_size(sku))
    assert hardware is not None
    driver = promise(settings, pool).driver or ""
    state = NodeState(
        "v26.7.0", hardware, host=Host(driver), devices=tuple(devices(hardware.mig, "single")), faults=faults
    )
    assert set(defects) <= set(DEFECT_NAMES)
    return Node(Machine("node", vm_size(sku), state, (0,), False, frozenset(defects)), settings, pool, baseline or {})


def faulty(fault: str) -> NodeFaults:
    return node_faults(
        {"metadata": {"annotations": {"simulator.physical-ai/faults": annotation([Injected(fault, 0, 0.0)])}}}
    )


@pytest.mark.parametrize("sku", [H100, H100_PAIR, RTX, A100_PAIR, "Standard_ND96isr_H100_v5"])
def test_a_healthy_node_passes_every_check_that_applies(settings: Settings, sku: str) -> None:
    healthy = node(settings, sku)
    results = {name: healthy.check(name) for name, check in checks().items() if not not_for(check, healthy.pool)}
    assert {name: each.message for name, each in results.items() if each.verdict != "passed"} == {}
    assert "vector-add" in results


@pytest.mark.parametrize("gpu", [0, 1])
@pytest.mark.parametrize("fault", ["remap-failed", "xid-95"])
def test_a_fault_of_any_gpu_of_the_node_is_found_by_the_level_quick(settings: Settings, fault: str, gpu: int) -> None:
    key = "simulator.physical-ai/faults"
    faults = node_faults({"metadata": {"annotations": {key: annotation([Injected(fault, gpu, 0.0)])}}})
    found = node(settings, H100_PAIR, faults=faults).check("stack")
    assert (checks()["stack"].level, found.verdict) == ("quick", "failed"), found.message


def test_a_report_about_fewer_gpus_than_the_container_was_given_is_no_pass(settings: Settings) -> None:
    pair = node(settings, H100_PAIR)
    check = checks()["stack"]
    container: Any = pod_spec(check, pair.pool, "x/ubuntu", tolerations=[])["containers"][0]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    code, log = run(container, pair.machine)
    promised = promise(settings, pair.pool)
    found = judge(check, JobOutcome(log, code), NodeBaseline(promised, 2, promised.resources, None))
    assert (found.verdict, found.message) == (
        "failed",
        "the report is about 1 GPUs, and the container was given 2",
    )


@in_one_test(
    ("sku", "fault", "check", "words"),
    [
        (H100, "driver-gone", "vector-add", "cannot use the GPU"),
        (RTX, "licence-lost", "stack", "no licence (Unlicensed)"),
        (H100, "remap-pending", "stack", "reboot the node"),
        (H100, "remap-failed", "stack", "has to be replaced"),
        (H100, "ecc-dbe", "stack", "1 uncorrectable memory errors"),
        (H100, "xid-95", "stack", "asks for a recovery: Reset"),
        (H100, "xid-79", "stack", "asks for a recovery: Reboot"),
        (H100, "ecc-dbe", "diag-2", "memory on GPU 0: A DBE occurred"),
        (H100, "thermal", "diag-3", "exceeded user-specified maximum"),
        (H100, "remap-failed", "diag-2", "row remapping failed"),
        (H100, "pcie-replays", "bandwidth", "host to GPU reaches 32.94 GB/s, and the size's floor is 48"),
    ],
)
def test_a_fault_makes_its_check_fail(settings: Settings, sku: str, fault: str, check: str, words: str) -> None:
    result = node(settings, sku, faults=faulty(fault)).check(check)
    assert (result.verdict, words in result.message) == ("failed", True), result


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Unrepairable Memory", "the GPU has to be replaced"),
        ("SRAM Threshold Exceeded", "it has to be replaced"),
        ("Channel Repair Pending", "a repair is pending (Channel): reboot the node"),
        ("TPC Repair Pending", "a repair is pending (TPC): reboot the node"),
    ],
)
def test_what_a_recorded_report_says_of_its_memory_counts(settings: Settings, line: str, words: str) -> None:
    recorded = Path("tests/fixtures/acceptance/smi-h200.txt").read_text()
    given = NodeBaseline(Promise(None, "open", "Disabled", licensed=False, persistence=True, resources={}), 1, {}, None)
    check = checks()["stack"]
    assert judge(check, JobOutcome(recorded, 0), given).verdict == "passed"
    wrong = re.sub(rf"({line} +: )No", r"\1Yes", recorded)
    result = judge(check, JobOutcome(wrong, 0), given)
    assert (result.verdict, words in result.message) == ("failed", True), result


def test_a_simulated_report_has_the_recorded_lines_in_their_sections(settings: Settings) -> None:
    recorded = paths(Path("tests/fixtures/acceptance/smi-h200.txt").read_text())
    _, report = nvidia_smi(node(settings, H100).machine, "")
    simulated = paths(report)
    assert len(simulated) > 15
    assert [path for path in simulated if path not in recorded] == []


def paths(report: str) -> list[tuple[str, ...]]:
    """Section names and keys of `nvidia-smi -q`, each below the line that it belongs to."""
    found: list[tuple[str, ...]] = []
    above: list[tuple[int, str]] = []
    for line in report.partition("NVRM version")[0].splitlines():
        key = line.partition(" : ")[0]
        depth = len(key) - len(key.lstrip())
        name = "GPU" if key.startswith("GPU 0") else key.strip()
        if name and not name.startswith("="):
            above = [*(each for each in above if each[0] < depth), (depth, name)]
            found.append(tuple(each for _, each in above))
    return found


@in_one_test(
    ("sku", "defect", "check", "words"),
    [
        (RTX, "no-graphics", "graphics", "has no Vulkan's driver file and no libGLX_nvidia.so.0"),
        (RTX, "graphics-everywhere", "graphics-absent", "ignores NVIDIA_DRIVER_CAPABILITIES"),
        (RTX, "software-vulkan", "vulkan", "finds no NVIDIA device, only llvmpipe"),
        (RTX, "no-ray-tracing", "vulkan", "no VK_KHR_acceleration_structure, VK_KHR_ray_tracing_pipeline"),
        (RTX, "isaac-hangs", "isaac-sim", "hung while it closed"),
        (RTX, "no-graphics", "isaac-sim", "exit code 1"),
        (RTX, "mig-off", "stack", "MIG mode is Disabled, and the pool's settings say Enabled"),
        (H100, "no-persistence", "stack", "persistence mode is off"),
        (H100, "slow-link", "bandwidth", "the size's floor is 48"),
        (H100_PAIR, "slow-peers", "bandwidth", "GPU to GPU reaches 123.73 GB/s, and the size's floor is 350"),
        (H100_PAIR, "wrong-results", "nccl", "results of the all-reduce were wrong"),
        (A100_PAIR, "slow-peers", "nccl", "all-reduce over 2 GPUs reaches 67.167 GB/s, and the size's floor is 193"),
    ],
)
def test_a_defect_makes_its_check_fail(settings: Settings, sku: str, defect: str, check: str, words: str) -> None:
    result = node(settings, sku, defect).check(check)
    assert (result.verdict, words in result.message) == ("failed", True), result


@in_one_test("name", [each.name for each in checks().values() if each.nodes == 1])
def test_half_an_output_is_no_verdict(settings: Settings, name: str) -> None:
    sku = RTX if checks()[name].pools == "graphics" else H100_PAIR
    assert node(settings, sku, "garbled").check(name).verdict == "no-verdict"


def test_a_node_is_compared_with_its_own_first_run_where_no_floor_is_known(settings: Settings) -> None:
    first = node(settings, RTX).check("bandwidth")
    assert "no floor is known" in first.message
    known = dict(first.measured)
    assert node(settings, RTX, baseline=known).check("bandwidth").verdict == "passed"
    slow = node(settings, RTX, "slow-link", baseline=known).check("bandwidth")
    assert slow.verdict == "failed"
    assert "50% of the node's first 55.3" in slow.message


def test_figures_of_different_setups_are_never_compared(settings: Settings) -> None:
    pair, floored = node(settings, H100_PAIR).check("nccl"), node(settings, A100_PAIR).check("nccl")
    assert set(pair.measured) == {"all_reduce_2_gpus_8..8G_bus_gb_s"}
    assert set(floored.measured) == {"all_reduce_2_gpus_16G_bus_gb_s"}
    high = {key: value * 10 for key, value in floored.measured.items()}
    assert node(settings, H100_PAIR, baseline=high).check("nccl").verdict == "passed"


def test_the_driver_has_to_be_the_one_of_the_settings(settings: Settings) -> None:
    other = node(settings, H100)
    state = replace(other.machine.state, host=Host("570.124.06"))
    result = replace(other, machine=replace(other.machine, state=state)).check("stack")
    assert "the driver is 570.124.06, and the pool's settings say 580.173.02" in result.message


def test_fewer_gpus_than_promised_fail(settings: Settings) -> None:
    given = NodeBaseline(promise(settings, settings.pools["h100gpu"]), 1, {}, None)
    _, log = run({"image": "", "command": ["nvidia-smi"]}, node(settings, H100).machine)
    result = judge(checks()["stack"], JobOutcome(log, 0), given)
    assert "the node offers 0 x nvidia.com/gpu, and the pool's settings promise 1" in result.message


def test_a_diagnostic_that_ran_nothing_has_not_passed(settings: Settings) -> None:
    text = (
        '{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "software", "results": [{"status": "Skip"}]}]}]}}'
    )
    given = NodeBaseline(promise(settings, settings.pools["h100gpu"]), 1, {}, None)
    assert judge(checks()["diag-2"], JobOutcome(text, 0), given).verdict == "no-verdict"


def test_dcgmi_that_fails_without_a_failed_test_has_not_passed(settings: Settings) -> None:
    text = (
        '{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "software", "results": [{"status": "Pass"}]}]}]}}'
    )
    given = NodeBaseline(promise(settings, settings.pools["h100gpu"]), 1, {}, None)
    assert judge(checks()["diag-2"], JobOutcome(text, 226), given).verdict == "no-verdict"


def test_a_diagnostic_never_runs_on_a_vgpu(settings: Settings) -> None:
    pool = settings.pools["rtxprogpu"]
    assert {name: bool(not_for(check, pool)) for name, check in checks().items() if check.output == "diag"} == {
        "diag-1": True,
        "diag-2": True,
        "diag-3": True,
    }
    assert run({"image": "", "command": ["dcgmi diag -r 1"]}, node(settings, RTX).machine)[0] != 0


def test_every_floor_is_of_a_known_size_with_its_gpus() -> None:
    for size, floor in floors().items():
        gpu = vm_size(size).gpu
        assert gpu is not None
        assert floor.peer is None or gpu.count > 1
        assert isinstance(floor, Floor)
        assert floor.source.startswith("Azure/azurehpc-health-checks")
