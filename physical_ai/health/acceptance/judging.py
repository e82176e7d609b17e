"""Whether a node passed a check: its Job's output beside the settings, the floors and the node's first run. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from physical_ai.catalog.acceptance import Check, Floor
from physical_ai.health.acceptance.judging_figures import judge_bandwidth, judge_nccl
from physical_ai.health.acceptance.outputs.diag import DiagTest, read_diag
from physical_ai.health.acceptance.outputs.graphics import (
    RAY_TRACING,
    TIMED_OUT,
    read_isaac_sim,
    read_libraries,
    read_vulkaninfo,
)
from physical_ai.health.acceptance.outputs.smi import Smi, SmiGpu, read_smi
from physical_ai.health.acceptance.outputs.unrecognised import Unrecognised, last_line
from physical_ai.health.acceptance.outputs.vector_add import read_vector_add
from physical_ai.health.acceptance.record import CheckResult
from physical_ai.settings.facts.acceptance import Promise


@dataclass(frozen=True)
class JobOutcome:
    """How the Job of a check ended."""

    log: str
    exit_code: int | None
    """None where the container never ended."""
    problem: str = ""
    """Why it did not end on its own."""


@dataclass(frozen=True)
class NodeBaseline:
    """What a node is measured against."""

    promise: Promise
    gpus: int
    """GPUs of the VM size."""
    allocatable: Mapping[str, int]
    """GPUs that the node offers now, by resource name."""
    floor: Floor | None
    baseline: Mapping[str, float] = field(default_factory=dict[str, float])
    """Figures of this check in the node's first passing run."""


def judge(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    """The result of a check that was started. Output that is not understood is no verdict, never a pass."""
    if ran.exit_code is None:
        return CheckResult(check.name, "no-verdict", ran.problem or "the container did not end")
    try:
        return _JUDGES[check.output](check.name, ran, given)
    except Unrecognised as problem:
        ended = f" (exit code {ran.exit_code})" if ran.exit_code else ""
        return CheckResult(check.name, "no-verdict", f"{problem}{ended}")


def _vector_add(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    failure = read_vector_add(ran.log)
    if failure:
        return CheckResult(name, "failed", f"a CUDA program cannot use the GPU: {failure}")
    return CheckResult(name, "passed", "the sum was right")


def _stack(name: str, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    smi = read_smi(ran.log)
    wrong = [*_offered(given), *_driver(smi, given.promise)]
    wrong += [f"GPU {gpu.address}: {text}" for gpu in smi.gpus for text in _gpu(gpu, given.promise)]
    if wrong:
        return CheckResult(name, "failed", "; ".join(wrong))
    return CheckResult(name, "passed", f"driver {smi.driver}, {', '.join(sorted({gpu.product for gpu in smi.gpus}))}")


def _offered(given: NodeBaseline) -> list[str]:
    return [
        f"the node offers {given.allocatable.get(resource, 0)} x {resource}, and the pool's settings promise {count}"
        for resource, count in given.promise.resources.items()
        if given.allocatable.get(resource, 0) != count
    ]


def _driver(smi: Smi, promise: Promise) -> list[str]:
    wrong: list[str] = []
    if promise.driver is not None and smi.driver != promise.driver:
        wrong.append(f"the driver is {smi.driver}, and the pool's settings say {promise.driver}")
    if promise.modules is not None and smi.modules != promise.modules:
        wrong.append(f"the kernel modules are {smi.modules}, and the pool's settings say {promise.modules}")
    return wrong


def _gpu(gpu: SmiGpu, promise: Promise) -> list[str]:
    wrong: list[str] = []
    if (gpu.mig or "Disabled") != promise.mig:
        wrong.append(f"MIG mode is {gpu.mig or 'not available'}, and the pool's settings say {promise.mig}")
    if promise.licensed and gpu.licence != "Licensed":
        wrong.append(f"the vGPU has no licence ({gpu.licence or 'no licence status'}), so it will be throttled")
    if promise.persistence and gpu.persistence != "Enabled":
        wrong.append("persistence mode is off, so the first program after a pause waits for the driver")
    if gpu.recovery not in ("", "None"):
        wrong.append(f"the driver asks for a recovery: {gpu.recovery}")
    if gpu.remap_failed == "Yes":
        wrong.append("a memory row could not be remapped: the GPU has to be replaced")
    if gpu.remap_pending == "Yes":
        wrong.append("a memory row waits to be remapped: reboot the node")
    if gpu.unrepairable == "Yes":
        wrong.append("memory cannot be repaired: the GPU has to be replaced")
    if gpu.threshold_exceeded == "Yes":
        wrong.append("too many uncorrectable errors of SRAM in the GPU's life: it has to be replaced")
    wrong += [f"a repair is pending ({unit}): reboot the node" for unit in gpu.repairs_pending]
    if gpu.uncorrectable:
        wrong.append(f"{gpu.uncorrectable} uncorrectable memory errors since the driver was loaded")
    return wrong


def _graphics(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    found = read_libraries(ran.log)
    missing = [
        what for what, paths in (("Vulkan's driver file", found.icd), ("libGLX_nvidia.so.0", found.glx)) if not paths
    ]
    if missing:
        problem = f"a container with all capabilities has no {' and no '.join(missing)}, so nothing renders"
        return CheckResult(name, "failed", problem)
    return CheckResult(name, "passed", f"{found.icd[0]}, {found.glx[0]}")


def _graphics_absent(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    found = read_libraries(ran.log)
    if found.icd or found.glx:
        there = ", ".join([*found.icd, *found.glx])
        problem = f"a container with compute only has {there}: the container runtime ignores NVIDIA_DRIVER_CAPABILITIES"
        return CheckResult(name, "failed", problem)
    return CheckResult(name, "passed", "compute only gives no graphics")


def _vulkan(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    devices = read_vulkaninfo(ran.log)
    nvidia = [device for device in devices if device.is_nvidia]
    if not nvidia:
        names = ", ".join(device.name for device in devices)
        return CheckResult(name, "failed", f"Vulkan finds no NVIDIA device, only {names}")
    lacking = [each for each in RAY_TRACING if not all(each in device.extensions for device in nvidia)]
    if lacking:
        return CheckResult(name, "failed", f"{nvidia[0].name} has no {', '.join(lacking)}, so it cannot trace rays")
    return CheckResult(name, "passed", f"{nvidia[0].name} with ray tracing")


def _isaac_sim(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    run = read_isaac_sim(ran.log)
    if run.exit_code in TIMED_OUT:
        when = "while it closed" if run.started else "while it started"
        return CheckResult(name, "failed", f"Isaac Sim hung {when} and was killed after 15 minutes")
    if not run.started or run.exit_code:
        return CheckResult(name, "failed", f"Isaac Sim ended with exit code {run.exit_code}: {last_line(ran.log)}")
    return CheckResult(name, "passed", "started without a display, and ended")


def _diag(name: str, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    diag = read_diag(ran.log)
    failed = [test for test in diag.tests if test.status == "fail"]
    if failed:
        return CheckResult(name, "failed", "; ".join(map(_described, failed)))
    undone = [test for test in diag.tests if test.status == "not run"]
    passed = {test.name for test in diag.tests if test.status in ("pass", "warn")}
    if undone or not passed:
        return CheckResult(
            name, "no-verdict", f"tests did not run: {', '.join(map(_described, undone)) or 'all were skipped'}"
        )
    if ran.exit_code:
        return CheckResult(name, "no-verdict", f"no test failed, but dcgmi ended with exit code {ran.exit_code}")
    warned = [test for test in diag.tests if test.status == "warn"]
    note = f"; warnings: {'; '.join(map(_described, warned))}" if warned else ""
    return CheckResult(name, "passed", f"{len(passed)} tests passed, DCGM {diag.version}{note}")


def _described(test: DiagTest) -> str:
    place = f" on {test.where}" if test.where else ""
    return f"{test.name}{place}" + (f": {' '.join(test.warnings)}" if test.warnings else "")


def _bandwidth(name: str, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    return judge_bandwidth(name, ran.log, given.gpus, given.floor, given.baseline)


def _nccl(name: str, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    return judge_nccl(name, ran.log, given.gpus, given.floor, given.baseline)


_JUDGES: Mapping[str, Callable[[str, JobOutcome, NodeBaseline], CheckResult]] = {
    "vector-add": _vector_add,
    "stack": _stack,
    "graphics": _graphics,
    "graphics-absent": _graphics_absent,
    "vulkan": _vulkan,
    "isaac-sim": _isaac_sim,
    "nvbandwidth": _bandwidth,
    "nccl": _nccl,
    "diag": _diag,
}
