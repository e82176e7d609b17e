"""Judgement of a node by a check: the output of the check's Job is compared with the settings, with the floors for the
VM size, and with the figures of the node's first run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from grid_agent.report.plain import LONGEST_SENTENCE, plain
from physical_ai.catalog.acceptance import Check, Floor
from physical_ai.settings.facts.acceptance import Promise
from workbench.health.acceptance.judging_diag import judge_diag
from workbench.health.acceptance.judging_figures import judge_bandwidth, judge_nccl
from workbench.health.acceptance.judging_stack import judge_stack
from workbench.health.acceptance.outputs.graphics import (
    RAY_TRACING,
    TIMED_OUT,
    read_isaac_sim,
    read_libraries,
    read_vulkaninfo,
)
from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line
from workbench.health.acceptance.outputs.vector_add import read_vector_add
from workbench.health.acceptance.record import CheckResult


@dataclass(frozen=True)
class JobOutcome:
    """Outcome of a check's Job: the container's log and exit code, or the reason why the container has no exit code."""

    log: str
    exit_code: int | None
    """Exit code of the container; None if the container did not end."""
    problem: str = ""
    """Reason why the container did not end on its own."""


@dataclass(frozen=True)
class NodeBaseline:
    """Expected values for a node, with which the results of a check are compared."""

    promise: Promise
    gpus: int
    """Number of GPUs that the VM size has."""
    allocatable: Mapping[str, int]
    """GPUs that the node offers now, by resource name."""
    floor: Floor | None
    baseline: Mapping[str, float] = field(default_factory=dict[str, float])
    """Figures that this check measured in the node's first passing run."""


def judge(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    """The result of a check whose Job was started. Output in an unknown form never passes: it gives `no-verdict`.

    The result's message is one line without control characters, whatever the program has printed.
    """
    result = _judged(check, ran, given)
    return replace(result, message=plain(result.message, LONGEST_SENTENCE))


def _judged(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    if ran.exit_code is None:
        return CheckResult(check.name, "no-verdict", ran.problem or "the container did not end")
    try:
        result = _JUDGES[check.output](check, ran, given)
    except Unrecognised as problem:
        ended = f" (exit code {ran.exit_code})" if ran.exit_code else ""
        return CheckResult(check.name, "no-verdict", f"{problem}{ended}")
    return ended_well(result, ran)


def ended_well(result: CheckResult, ran: JobOutcome) -> CheckResult:
    """The result unchanged, except that a pass becomes `no-verdict` if the program's exit code reports a failure."""
    if result.verdict != "passed" or not ran.exit_code:
        return result
    return CheckResult(result.check, "no-verdict", f"{result.message}; but it ended with exit code {ran.exit_code}")


def _vector_add(check: Check, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    failure = read_vector_add(ran.log)
    if failure:
        return CheckResult(check.name, "failed", f"a CUDA program cannot use the GPU: {failure}")
    return CheckResult(check.name, "passed", "the sum was right")


def _stack(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    # Shares and MIG devices are counted from what the node offers, whole GPUs from the VM size.
    whole = sum(given.promise.resources.values()) == given.gpus
    gpus = given.gpus if whole and check.gpus == "every" else 0
    return judge_stack(check.name, (ran.log, ran.exit_code), given.promise, given.allocatable, gpus)


def _graphics(check: Check, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    found = read_libraries(ran.log)
    missing = [
        what for what, paths in (("Vulkan's driver file", found.icd), ("libGLX_nvidia.so.0", found.glx)) if not paths
    ]
    if missing:
        problem = f"a container with all capabilities has no {' and no '.join(missing)}, so nothing renders"
        return CheckResult(check.name, "failed", problem)
    return CheckResult(check.name, "passed", f"{found.icd[0]}, {found.glx[0]}")


def _graphics_absent(check: Check, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    found = read_libraries(ran.log)
    if found.icd or found.glx:
        there = ", ".join([*found.icd, *found.glx])
        problem = f"a container with compute only has {there}: the container runtime ignores NVIDIA_DRIVER_CAPABILITIES"
        return CheckResult(check.name, "failed", problem)
    return CheckResult(check.name, "passed", "compute only gives no graphics")


def _vulkan(check: Check, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    devices = read_vulkaninfo(ran.log)
    nvidia = [device for device in devices if device.is_nvidia]
    if not nvidia:
        names = ", ".join(device.name for device in devices)
        return CheckResult(check.name, "failed", f"Vulkan finds no NVIDIA device, only {names}")
    lacking = [each for each in RAY_TRACING if not all(each in device.extensions for device in nvidia)]
    if lacking:
        return CheckResult(
            check.name, "failed", f"{nvidia[0].name} has no {', '.join(lacking)}, so it cannot trace rays"
        )
    return CheckResult(check.name, "passed", f"{nvidia[0].name} with ray tracing")


def _isaac_sim(check: Check, ran: JobOutcome, _: NodeBaseline) -> CheckResult:
    run = read_isaac_sim(ran.log)
    if run.exit_code in TIMED_OUT:
        when = "while it closed" if run.started else "while it started"
        return CheckResult(check.name, "failed", f"Isaac Sim hung {when} and was killed after 15 minutes")
    if not run.started or run.exit_code:
        return CheckResult(
            check.name, "failed", f"Isaac Sim ended with exit code {run.exit_code}: {last_line(ran.log)}"
        )
    return CheckResult(check.name, "passed", "started without a display, and ended")


def _diag(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    return judge_diag(check.name, ran.log, ran.exit_code, check.tests, given.gpus)


def _bandwidth(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    return judge_bandwidth(check.name, ran.log, given.gpus, given.floor, given.baseline)


def _nccl(check: Check, ran: JobOutcome, given: NodeBaseline) -> CheckResult:
    return judge_nccl(check.name, ran.log, given.gpus, given.floor, given.baseline)


_JUDGES: Mapping[str, Callable[[Check, JobOutcome, NodeBaseline], CheckResult]] = {
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
