"""Outcome of a task's program. Pure functions.

No program is run. A task's program is assumed to succeed, unless its container lacks a GPU that works or a GPU
capability that the program needs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cluster.names import NVIDIA, RUNS
from simulator.osmo_names import CONTROL_CONTAINER

TASK_SECONDS = 60.0
"""Simulated seconds that a task's program takes, unless the program is `sleep`."""
VULKAN = "vulkan"
"""Value of the annotation `runs` of a Pod whose program uses Vulkan."""
CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
GRAPHICS = {"all", "graphics"}
NO_VULKAN = (
    "vkCreateDevice failed: ERROR_INITIALIZATION_FAILED. No Vulkan driver in the container, which was given {given} of"
    " the driver: graphics is not among it (" + CAPABILITIES + ")"
)


def duration(pod: Mapping[str, Any]) -> float:
    """Simulated seconds that the task's program takes: the argument of `sleep`, or TASK_SECONDS for every other
    program.
    """
    container = next(each for each in pod["spec"]["containers"] if each["name"] != CONTROL_CONTAINER)
    given: Sequence[str] = container.get("args") or ()
    words = [word for flag, word in itertools.pairwise(given) if flag in ("-commands", "-args")]
    if len(words) != 2 or words[0] != "sleep":
        return TASK_SECONDS
    try:
        return float(words[1])
    except ValueError:
        return TASK_SECONDS


def outcome(pod: Mapping[str, Any], faults: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and termination message of the task's container.

    Args:
        pod: The Pod, on a node.
        faults: The CUDA error of each GPU node; empty if CUDA works.
    """
    container = next(each for each in pod["spec"]["containers"] if each["name"] != CONTROL_CONTAINER)
    limits: Mapping[str, Any] = container.get("resources", {}).get("limits") or {}
    if not any(name.startswith(NVIDIA) for name in limits):
        return 0, ""
    fault = faults.get(pod["spec"]["nodeName"], "this node has no GPU stack")
    if fault:
        return 1, fault
    annotations: Mapping[str, str] = pod["metadata"].get("annotations") or {}
    given = next((str(item.get("value", "")) for item in container.get("env", []) if item["name"] == CAPABILITIES), "")
    if annotations.get(RUNS) == VULKAN and not GRAPHICS & {part.strip() for part in given.split(",")}:
        return 1, NO_VULKAN.format(given=given or "compute,utility, its default,")
    return 0, ""
