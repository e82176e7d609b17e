"""Day of healthy clusters of every kind: phases, and the series of each in promtool's notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from physical_ai.catalog import vm_size
from physical_ai.telemetry.amd_counters import KEY, exporter_config
from simulator.metrics import amd_pages
from tests.support.genuine_series import Machine, read, run, sampled

Phase = tuple[Sequence[Machine], int]
"""Machines of a phase, and the number of values that each series has in it."""
MI300X = "Standard_ND96isr_MI300X_v5"


def phases(given: Sequence[Phase], interval: int) -> dict[str, str]:
    """Series of one phase after another. A counter goes on in the next phase; after a phase in which its series did not
    exist, it begins again.
    """
    found = [(sampled(machines, interval), steps) for machines, steps in given]
    return {name: _over(name, found) for name in dict.fromkeys(name for samples, _ in found for name in samples)}


def _over(name: str, found: Sequence[tuple[Mapping[str, tuple[float, float]], int]]) -> str:
    parts, reached = list[str](), 0.0
    for samples, steps in found:
        value = samples.get(name)
        if value is None:
            parts.append(f"stale _x{steps - 1}" if parts else f"_x{steps}")
            reached = 0.0
        else:
            parts.append(f"{run(reached, value)}x{steps - 1}")
            reached += value[1] * steps
    return " ".join(parts)


def silent(machine: Machine) -> Machine:
    """The machine while none of its own exporters is scraped, as when they restart. kube-state-metrics goes on."""
    return replace(machine, scraped=False)


def leaving(machine: Machine) -> Machine:
    """The machine after it was cordoned and drained."""
    return replace(machine, jobs=(), taints=("node.kubernetes.io/unschedulable",))


def amd_series(name: str, steps: int) -> dict[str, str]:
    """Series of a node with AMD's GPUs, one of which a job has."""
    gpu = vm_size(MI300X).gpu
    assert gpu is not None
    held = [amd_pages.Holder("ml", "rocm", "main", 0.9)]
    text = amd_pages.page(name, gpu, {"data": {KEY: exporter_config()}}, held)
    own = dict(read(text, f'node="{name}"', exported=True))
    own |= {
        f'kube_node_status_{each}{{node="{name}",resource="amd_com_gpu"}}': 8 for each in ("capacity", "allocatable")
    }
    own |= {f'kube_node_labels{{node="{name}",label_agentpool="mi300x"}}': 1, f'kube_node_info{{node="{name}"}}': 1}
    return {name: f"{value:g}x{steps}" for name, value in own.items()}
