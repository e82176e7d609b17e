"""Units (GPUs or MIG instances) that a DCGM exporter monitors on a node, and the Pods that hold them. Pure functions.

For a GPU with MIG instances, the exporter by default monitors the instances, and otherwise the GPU
(NVIDIA/dcgm-exporter internal/pkg/devicemonitoring).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.gpu.hardware import Mig

_PROFILE = re.compile(r"mig-(\w+\.\w+?)(?:\.shared)?$")
_MEMORY = re.compile(r"\.(\d+)gb")
MIB = 1024


@dataclass(frozen=True)
class Job:
    """A container that holds one GPU, one MIG instance, or one share of either."""

    namespace: str
    pod: str
    container: str
    load: float = 1.0
    """Load of the GPU by this job, from 0 (idle) to 1 (busy)."""
    resource: str = "nvidia.com/gpu"


@dataclass(frozen=True)
class Unit:
    """A GPU, or one of its MIG instances."""

    gpu: int
    instance: int | None = None
    profile: str = ""

    @property
    def memory_mib(self) -> int | None:
        """Memory of an instance in MiB, from its profile's name (`1g.12gb`); None for a whole GPU."""
        match = _MEMORY.search(self.profile)
        return int(match[1]) * MIB if match else None


def units(gpus: Sequence[Mig]) -> list[Unit]:
    """Units that a DCGM exporter monitors: for each GPU, its MIG instances, or the GPU itself if it has none. `gpus`:
    for each GPU, the profiles of its MIG instances.
    """
    return [
        unit
        for index, profiles in enumerate(gpus)
        for unit in ([Unit(index, n, profile) for n, profile in enumerate(profiles)] if profiles else [Unit(index)])
    ]


def holders(monitored: Sequence[Unit], jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs that hold each unit. A job gets the unit with the fewest jobs among the units that fit the job's
    resource.
    """
    found: list[list[Job]] = [[] for _ in monitored]
    for job in jobs:
        profile = _PROFILE.search(job.resource)
        fitting = [n for n, unit in enumerate(monitored) if profile is None or unit.profile == profile[1]]
        if fitting:
            found[min(fitting, key=lambda n: len(found[n]))].append(job)
    return found
