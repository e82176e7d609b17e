"""Defects of simulated nodes, which an annotation of the node switches on. Acceptance checks and records of machines
have to show these defects; `physai fault` cannot inject them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.names import SIMULATOR
from simulator.cluster.objects import annotations_of

DEFECTS = f"{SIMULATOR}acceptance-defects"
"""Annotation of nodes with names of DEFECT_NAMES, separated by commas."""
DEFECT_NAMES: Mapping[str, str] = {
    "no-graphics": "containers get no graphics libraries, whatever they ask for",
    "graphics-everywhere": "containers get graphics libraries, whatever they ask for",
    "software-vulkan": "Vulkan finds a software renderer alone",
    "no-ray-tracing": "the Vulkan device has no ray-tracing extensions",
    "isaac-hangs": "Isaac Sim does not end after its close",
    "slow-link": "the link between host and GPUs has half its speed",
    "slow-peers": "links between GPUs have a third of their speed",
    "wrong-results": "an all-reduce gives wrong results",
    "slow-fabric": "adapters of InfiniBand have a third of their speed",
    "adapter-missing": "containers see one InfiniBand adapter less",
    "port-down": "the port of the first InfiniBand adapter is down",
    "no-peermem": "adapters of InfiniBand do not reach the GPUs' memory",
    "no-persistence": "persistence mode is off",
    "mig-off": "MIG mode is off where it should be on",
    "garbled": "every program prints half of its output",
}
"""Defects that a check can find and that no fault of `physai fault` causes. Keys: names for the annotation. Values:
descriptions.
"""


def defects_of(node: Mapping[str, Any]) -> frozenset[str]:
    """The defects that a Node's annotation names; names that DEFECT_NAMES does not contain are ignored."""
    given = annotations_of(node).get(DEFECTS, "").split(",")
    return frozenset(each.strip() for each in given if each.strip() in DEFECT_NAMES)
