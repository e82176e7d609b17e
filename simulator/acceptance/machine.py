"""Hardware that the acceptance programs see on a node. Does no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from physical_ai.catalog import rows
from simulator.faults import Effects
from simulator.gpu.containers import pod_version
from simulator.gpu.node_state import NodeState
from simulator.gpu.sharing import cuda

DATA = Path(__file__).parent / "data" / "figures.yaml"


@dataclass(frozen=True)
class Figures:
    """Bandwidths of a healthy GPU in GB/s: host to device, GPU to GPU, and all-reduce."""

    host_device: float
    peer: float
    all_reduce: float


@cache
def figures() -> dict[str, Figures]:
    """Bandwidth figures by GPU model."""
    rows: list[dict[str, Any]] = safe_yaml.load(DATA.read_text(encoding="utf-8"))
    return {row["model"]: Figures(row["hostDevice"], row["peer"], row["allReduce"]) for row in rows}


@dataclass(frozen=True)
class Machine:
    """A node, as a container of an acceptance check sees it.

    Attributes:
        gpus: Numbers of the GPUs that the container was given.
        graphics: True if the container asked for graphics.
        claimed: True if the container got its GPUs through a resource claim: whole GPUs with all driver libraries.
    """

    name: str
    size: rows.Machine
    state: NodeState
    gpus: tuple[int, ...]
    graphics: bool
    defects: frozenset[str] = frozenset()
    claimed: bool = False

    @property
    def driver(self) -> str:
        return self.state.host.driver or pod_version(self.state)

    @property
    def has_closed_modules(self) -> bool:
        """True if the GPUs run on proprietary kernel modules.

        Either the host's driver has them, or the operator's driver Pod asks for them. A driver Pod that leaves the
        choice to the installer gets the open modules, with all simulated GPU models.
        """
        host, pod = self.state.host, self.state.driver_pod
        if host.driver or pod is None:
            return host.modules == "proprietary"
        return pod.workload.env.get(pod.workload.main, {}).get("KERNEL_MODULE_TYPE") == "proprietary"

    @property
    def product(self) -> str:
        """Name of the GPU model as nvidia-smi prints it: `NVIDIA H100 NVL`."""
        return self.state.hardware.product.replace("-", " ")

    @property
    def figures(self) -> Figures:
        row = figures().get(self.size.gpu.model if self.size.gpu else "")
        return row or Figures(25.0, 25.0, 20.0)

    @property
    def has_libraries(self) -> bool:
        """True if the container has the driver's graphics libraries."""
        if "no-graphics" in self.defects:
            return False
        return self.graphics or self.claimed or "graphics-everywhere" in self.defects

    def effects(self, gpu: int) -> list[Effects]:
        """Effects of the injected faults on a GPU."""
        return [effects for effects, _ in self.state.faults.of_gpu(gpu)]

    def field(self, gpu: int, name: str) -> float:
        """Value that a fault has set for a DCGM field of a GPU; 0 if no fault has set it."""
        return max((each.fields.get(name, 0.0) for each in self.effects(gpu)), default=0.0)

    def rate(self, gpu: int, name: str) -> float:
        return sum(each.rates.get(name, 0.0) for each in self.effects(gpu))

    @property
    def cuda_error(self) -> str:
        """Error with which every CUDA program fails on this machine; empty if CUDA programs run."""
        if self.state.faults.driver_lost:
            return "CUDA driver version is insufficient for CUDA runtime version"
        return "" if self.claimed else cuda(self.state.devices)
