"""The simulated acceptance programs, chosen by a container's command.

Pure functions: a machine in, exit code and output out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulator.acceptance.diagnostic import dcgmi
from simulator.acceptance.machine import Machine
from simulator.acceptance.smi import nvidia_smi

Result = tuple[int, str]
NOT_FOUND = 127
GRAPHICS_LIBRARIES = (
    "/etc/vulkan/icd.d/nvidia_icd.json",
    "/usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0",
)
EXTENSIONS = (
    "VK_KHR_16bit_storage",
    "VK_KHR_acceleration_structure",
    "VK_KHR_deferred_host_operations",
    "VK_KHR_external_memory_fd",
    "VK_KHR_ray_query",
    "VK_KHR_ray_tracing_pipeline",
    "VK_KHR_swapchain",
)
"""Vulkan device extensions that the simulated GPU reports: a few of the hundreds that a real driver has."""
_RAY_TRACING = ("VK_KHR_acceleration_structure", "VK_KHR_ray_query", "VK_KHR_ray_tracing_pipeline")


def run(container: Mapping[str, Any], machine: Machine) -> Result:
    """Exit code of a container, and its log. A command that no simulated program matches ends as "not found"."""
    command = " ".join([*container.get("command", ()), *container.get("args", ())])
    program = next((each for mark, each in _PROGRAMS.items() if mark in (command or container["image"])), None)
    if program is None:
        return NOT_FOUND, f"{command or container['image']}: not found\n"
    code, text = program(machine, command)
    return (code, text[: len(text) // 2]) if "garbled" in machine.defects else (code, text)


def _vector_add(machine: Machine, _: str) -> Result:
    start = "[Vector addition of 50000 elements]\n"
    if machine.cuda_error:
        return 1, f"{start}Failed to allocate device vector A (error code {machine.cuda_error})!\n"
    return 0, (
        f"{start}Copy input data from the host memory to the CUDA device\n"
        "CUDA kernel launch with 196 blocks of 256 threads\n"
        "Copy output data from the CUDA device to the host memory\nTest PASSED\nDone\n"
    )


def _libraries(machine: Machine, _: str) -> Result:
    found = GRAPHICS_LIBRARIES if machine.has_libraries else ()
    return 0, "".join(f"{line}\n" for line in (*found, "looked for graphics libraries"))


def _vulkaninfo(machine: Machine, _: str) -> Result:
    hardware = machine.has_libraries and "software-vulkan" not in machine.defects and not machine.cuda_error
    device = (
        ("0x10de", "DISCRETE_GPU", machine.product)
        if hardware
        else ("0x10005", "CPU", "llvmpipe (LLVM 15.0.7, 256 bits)")
    )
    has_rays = (
        hardware and bool(machine.size.gpu and machine.size.gpu.ray_tracing) and "no-ray-tracing" not in machine.defects
    )
    extensions = [each for each in EXTENSIONS if has_rays or each not in _RAY_TRACING]
    lines = [
        "==========",
        "VULKANINFO",
        "==========",
        "",
        "Vulkan Instance Version: 1.3.204",
        "",
        "Device Properties and Extensions:",
        "=================================",
        "GPU0:",
        "VkPhysicalDeviceProperties:",
        "---------------------------",
        "\tapiVersion        = 4211017 (1.4.329)",
        f"\tvendorID          = {device[0]}",
        f"\tdeviceType        = PHYSICAL_DEVICE_TYPE_{device[1]}",
        f"\tdeviceName        = {device[2]}",
        "",
        f"Device Extensions: count = {len(extensions)}",
        *(f"\t{each:<40}: extension revision 1" for each in extensions),
        "",
    ]
    return 0, "\n".join(lines)


def _isaac_sim(machine: Machine, _: str) -> Result:
    if not machine.has_libraries or machine.cuda_error:
        return 0, "[Error] [carb.graphics-vulkan.plugin] VkResult: ERROR_INCOMPATIBLE_DRIVER\nisaac-sim: exit code 1\n"
    code = 124 if "isaac-hangs" in machine.defects else 0
    return 0, f"[2.4 s] app ready\nisaac-sim: closing\nisaac-sim: exit code {code}\n"


def _nvbandwidth(machine: Machine, command: str) -> Result:
    if machine.cuda_error:
        return 1, f"nvbandwidth Version: v0.7\nERROR: {machine.cuda_error}\n"
    lines = ["nvbandwidth Version: v0.7", "Built from Git version: v0.7", "", f"Driver Version: {machine.driver}", ""]
    lines += [f"Device {index}: {machine.product} (0000000{index + 1}:00:00)" for index in range(len(machine.gpus))]
    for test in command.split()[2:]:
        lines += ["", *_matrix(machine, test)]
    return 0, "\n".join([*lines, ""])


def _matrix(machine: Machine, test: str) -> list[str]:
    header = "".join(f"{index:>10}" for index in range(len(machine.gpus)))
    if test.startswith("device_to_device"):
        slow = 1 / 3 if "slow-peers" in machine.defects else 1.0
        title = "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)"
        rows = [
            [None if a == b else machine.figures.peer * slow for b in range(len(machine.gpus))]
            for a in range(len(machine.gpus))
        ]
    else:
        arrow = "->" if test.startswith("host") else "<-"
        title = f"memcpy CE CPU(row) {arrow} GPU(column) bandwidth (GB/s)"
        rows = [[machine.figures.host_device * _link(machine, gpu) for gpu in machine.gpus]]
    text = [
        f" {index}" + "".join(f"{'N/A' if value is None else f'{value:.2f}':>10}" for value in row)
        for index, row in enumerate(rows)
    ]
    total = sum(value for row in rows for value in row if value is not None)
    return [f"Running {test}.", title, f"  {header}", *text, "", f"SUM {test} {total:.2f}"]


def _link(machine: Machine, gpu: int) -> float:
    """Fraction of the nominal bandwidth that a GPU's PCIe link reaches; below 1 for a slow link and for a link that has
    to repeat packets.
    """
    if "slow-link" in machine.defects:
        return 0.5
    return 0.6 if machine.rate(gpu, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER") else 1.0


def _all_reduce(machine: Machine, command: str) -> Result:
    words = command.split()
    gpus = int(words[words.index("-g") + 1])
    if machine.cuda_error or gpus > len(machine.gpus):
        return 1, f"Test CUDA failure common.cu:1021 '{machine.cuda_error or 'invalid device ordinal'}'\n"
    wrong = 8 if "wrong-results" in machine.defects else 0
    bus = machine.figures.all_reduce / (3 if "slow-peers" in machine.defects else 1)
    return all_reduce_table([(machine.name, machine.product, gpu) for gpu in range(gpus)], bus, wrong)


def all_reduce_table(devices: Sequence[tuple[str, str, int]], bus: float, wrong: int) -> Result:
    """Output of `all_reduce_perf` for a run over the GPUs in `devices`. Each GPU is a tuple of host, product and device
    number.
    """
    ranks = [
        f"#  Rank {rank:>2} Group  0 Pid     41 on {host} device {gpu:>2} [0x0{gpu}] {product}"
        for rank, (host, product, gpu) in enumerate(devices)
    ]
    columns = "    time   algbw   busbw #wrong"
    head = f"#       size         count      type   redop    root {columns} {columns}"
    side = f"{1000.0:>8.1f}  {bus / 2:>6.2f}  {bus:>6.2f} {wrong:>6}"
    row = f"  17179869184    4294967296     float     sum      -1 {side} {side}"
    verdict = f"{2 * wrong} FAILED" if wrong else "0 OK"
    tail = [f"# Out of bounds values : {verdict}", f"# Avg bus bandwidth    : {bus:.3f}", "#", ""]
    return int(bool(wrong)), "\n".join(["# nThread 1 nGpus", "#", "# Using devices", *ranks, "#", head, row, *tail])


_PROGRAMS: Mapping[str, Callable[[Machine, str], Result]] = {
    "libGLX_nvidia": _libraries,
    "vulkaninfo": _vulkaninfo,
    "SimulationApp": _isaac_sim,
    "dcgmi diag": dcgmi,
    "nvidia-smi": nvidia_smi,
    "nvbandwidth": _nvbandwidth,
    "all_reduce_perf": _all_reduce,
    "vectoradd": _vector_add,
}
"""Simulated programs, by a text. A container runs the first program whose text is in the container's command or, for a
container without a command, in the image's name.
"""

__all__: Sequence[str] = ["run"]
