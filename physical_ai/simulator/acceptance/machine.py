"""What the programs of acceptance find on a node. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from physical_ai.catalog import VmSize
from physical_ai.simulator.cluster.names import SIMULATOR
from physical_ai.simulator.cluster.objects import annotations_of
from physical_ai.simulator.faults import Effects
from physical_ai.simulator.gpu.containers import pod_version
from physical_ai.simulator.gpu.node_state import NodeState
from physical_ai.simulator.gpu.sharing import cuda

FLAWS = f"{SIMULATOR}acceptance-flaws"
"""On nodes: names of FLAW_NAMES with commas between them."""
FLAW_NAMES: Mapping[str, str] = {
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
    "no-peermem": "adapters of InfiniBand do not reach the GPUs' memory",
    "no-persistence": "persistence mode is off",
    "mig-off": "MIG mode is off where it should be on",
    "garbled": "every program prints half of its output",
}
"""What no fault of `physai fault` does, and a check finds."""
DATA = Path(__file__).parent / "data" / "figures.yaml"


@dataclass(frozen=True)
class Figures:
    """GB/s of a healthy GPU."""

    host_device: float
    peer: float
    all_reduce: float


@cache
def figures() -> dict[str, Figures]:
    """By GPU model."""
    rows: list[dict[str, Any]] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return {row["model"]: Figures(row["hostDevice"], row["peer"], row["allReduce"]) for row in rows}


@dataclass(frozen=True)
class Machine:
    """A node, as a container of acceptance sees it.

    Attributes:
        gpus: Numbers of the GPUs that the container was given.
        graphics: Whether the container asked for graphics.
        claimed: Whether its GPUs are devices of a claim: whole ones, with all of the driver.
    """

    name: str
    size: VmSize
    state: NodeState
    gpus: tuple[int, ...]
    graphics: bool
    flaws: frozenset[str] = frozenset()
    claimed: bool = False

    @property
    def driver(self) -> str:
        return self.state.host.driver or pod_version(self.state)

    @property
    def product(self) -> str:
        """As nvidia-smi names it: `NVIDIA H100 NVL`."""
        return self.state.hardware.product.replace("-", " ")

    @property
    def figures(self) -> Figures:
        found = figures().get(self.size.gpu.model if self.size.gpu else "")
        return found or Figures(25.0, 25.0, 20.0)

    @property
    def has_libraries(self) -> bool:
        """Whether graphics libraries are in the container."""
        if "no-graphics" in self.flaws:
            return False
        return self.graphics or self.claimed or "graphics-everywhere" in self.flaws

    def effects(self, gpu: int) -> list[Effects]:
        """What faults do to a GPU."""
        return [effects for effects, _ in self.state.faults.of_gpu(gpu)]

    def field(self, gpu: int, name: str) -> float:
        """A DCGM field that a fault has set; 0 where none has."""
        return max((each.fields.get(name, 0.0) for each in self.effects(gpu)), default=0.0)

    def rate(self, gpu: int, name: str) -> float:
        return sum(each.rates.get(name, 0.0) for each in self.effects(gpu))

    @property
    def cuda_error(self) -> str:
        """Why no CUDA program runs; empty where it does."""
        if self.state.faults.driver_lost:
            return "CUDA driver version is insufficient for CUDA runtime version"
        return "" if self.claimed else cuda(self.state.devices)


def flaws_of(node: Mapping[str, Any]) -> frozenset[str]:
    """The flaws in a Node's annotation; names that are not known are left out."""
    given = annotations_of(node).get(FLAWS, "").split(",")
    return frozenset(each.strip() for each in given if each.strip() in FLAW_NAMES)
