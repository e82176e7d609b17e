"""Readers for graphics checks: the driver's libraries in a container, `vulkaninfo`, and a run of Isaac Sim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line

RAY_TRACING = ("VK_KHR_acceleration_structure", "VK_KHR_ray_tracing_pipeline")
"""Device extensions that a ray-traced renderer needs."""
LOOKED = "looked for graphics libraries"
TIMED_OUT = (124, 137)
"""Exit codes of a command that `timeout` has ended: by the first signal, or by the kill after it."""


@dataclass(frozen=True)
class Libraries:
    """The driver's graphics libraries that a container has."""

    icd: Sequence[str]
    """Paths of the files that register NVIDIA's Vulkan driver."""
    glx: Sequence[str]
    """Paths of the files named libGLX_nvidia.so.0."""


def read_libraries(text: str) -> Libraries:
    """The library paths that the check prints, one on each line.

    Raises:
        Unrecognised: the last line is missing, so the search may not have finished.
    """
    lines = [line.strip() for line in text.splitlines()]
    if LOOKED not in lines:
        raise Unrecognised(f"the search for graphics libraries did not end: {last_line(text)}")
    return Libraries(
        icd=[line for line in lines if line.startswith("/") and line.endswith(".json")],
        glx=[line for line in lines if line.endswith("/libGLX_nvidia.so.0")],
    )


@dataclass(frozen=True)
class VulkanDevice:
    """One Vulkan device that `vulkaninfo` lists."""

    name: str
    kind: str
    """Vulkan's type of the device, such as `DISCRETE_GPU`, `VIRTUAL_GPU` or `CPU`."""
    vendor: str
    """PCI id of the vendor, such as 0x10de."""
    extensions: frozenset[str]

    @property
    def is_nvidia(self) -> bool:
        """True for a real NVIDIA device; False for a software renderer, whatever its name."""
        return self.vendor == "0x10de" and self.kind != "CPU"


def read_vulkaninfo(text: str) -> list[VulkanDevice]:
    """The devices in the full output of `vulkaninfo`, which lists extensions; the output of `--summary` does not.

    Raises:
        Unrecognised: the text is not that output, or ends before a device's extensions.
    """
    if "VULKANINFO" not in text:
        raise Unrecognised(f"vulkaninfo did not start: {last_line(text)}")
    blocks = re.split(r"^GPU\d+:\s*$", text.partition("Device Properties and Extensions:")[2], flags=re.MULTILINE)[1:]
    if not blocks:
        raise Unrecognised(f"vulkaninfo lists no device: {last_line(text)}")
    return [_device(block) for block in blocks]


def _device(block: str) -> VulkanDevice:
    given = dict(re.findall(r"^\s*(deviceName|deviceType|vendorID)\s*=\s*(.*?)\s*$", block, re.MULTILINE))
    listed = re.search(r"^\s*Device Extensions: count = (\d+)\s*$", block, re.MULTILINE)
    if len(given) != 3 or listed is None:
        raise Unrecognised("vulkaninfo ends before a device's extensions")
    extensions = re.findall(r"^\s*(VK_\w+)\s*: extension revision\s+\d+\s*$", block[listed.end() :], re.MULTILINE)
    if len(extensions) < int(listed[1]):
        raise Unrecognised("vulkaninfo ends before a device's last extension")
    kind = given["deviceType"].removeprefix("PHYSICAL_DEVICE_TYPE_")
    return VulkanDevice(given["deviceName"], kind, given["vendorID"].lower(), frozenset(extensions))


@dataclass(frozen=True)
class SimulatorRun:
    """Result of starting Isaac Sim without a display."""

    started: bool
    exit_code: int


def read_isaac_sim(text: str) -> SimulatorRun:
    """The result of starting Isaac Sim, from the check's log.

    Raises:
        Unrecognised: the process had not ended.
    """
    ended = re.search(r"^isaac-sim: exit code (\d+)\s*$", text, re.MULTILINE)
    if ended is None:
        raise Unrecognised(f"Isaac Sim had not ended: {last_line(text)}")
    return SimulatorRun("isaac-sim: closing" in text, int(ended[1]))
