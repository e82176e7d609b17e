"""Duration of a stack's first deployment on Azure, from the resources that the program declares and the catalogue's
timings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.timings import GPU_GATE, Reference, corrected, gpu_gate, reference
from workbench.costs.schedule import Activity, Schedule, schedule
from workbench.first_gpu.graph import label, resource_steps, set_up_gpus, until_gpus
from workbench.first_gpu.model import Step
from workbench.first_gpu.pools import GpuPool, declared_pools
from workbench.policies import Resource, Stack

GATE = "GPUs ready"
SHORT = 0.5
"""Duration in minutes below which a step of the critical path is left out of the table."""


@dataclass(frozen=True)
class DeploymentTime:
    """The fastest and the slowest estimate of a deployment, each with its own critical path."""

    stack: str
    fast: Schedule
    slow: Schedule
    steps: dict[str, Step]
    """Each step, by its name."""
    types: dict[str, str]
    """Resource type of each step, by the step's name."""
    reference: Reference


def deployment_time(name: str, declared: Stack) -> DeploymentTime:
    """The estimated duration of the first deployment of the declared resources."""
    created = [each for each in declared.resources if each.custom]
    pools = declared_pools(declared.resources)
    steps = {each.key: each for each in resource_steps(created, pools)}
    types = {label(each): each.type for each in created}
    # The program waits for the nodes' GPUs, for which there is no resource.
    steps[GATE], types[GATE] = _gate(created, pools), GPU_GATE
    fast, slow = (
        schedule(Activity(each.key, each.minutes[case], each.needs) for each in steps.values()) for case in (0, 1)
    )
    return DeploymentTime(name, fast, slow, steps, types, reference())


def _gate(created: Sequence[Resource], pools: Sequence[GpuPool]) -> Step:
    """The wait for the GPUs of the nodes that the pools are created with: that of the slowest pool. Without declared
    pools, as on an existing cluster, the nodes are taken to have the GPU Operator's driver.
    """
    waits = [until_gpus(each) if each.nodes else (0, 0) for each in pools]
    slowest = (max(each[0] for each in waits), max(each[1] for each in waits)) if waits else None
    usual = corrected(gpu_gate(slowest))
    own = [label(each) for each in created if each.type.endswith(":AgentPool") and "gpuProfile" in each.inputs]
    known = "published" if usual.published else "estimate"
    return Step(GATE, GATE, usual.minutes, known, usual.source, (*own, *set_up_gpus(created)))


def document(found: DeploymentTime) -> dict[str, Any]:
    """The estimate as JSON data. Minutes are rounded to a tenth."""
    path = [
        {
            "step": each.step.name,
            "type": found.types[each.step.name],
            "start": round(each.start, 1),
            "end": round(each.end, 1),
            "minutes": list(found.steps[each.step.name].minutes),
            "published": found.steps[each.step.name].known == "published",
            "source": found.steps[each.step.name].source,
        }
        for each in found.slow.path
    ]
    compared = found.reference
    return {
        "stack": found.stack,
        "minutes": [round(found.fast.minutes, 1), round(found.slow.minutes, 1)],
        "steps": len(found.types),
        "path": path,
        "fastPath": [each.step.name for each in found.fast.path],
        "reference": {"minutes": list(compared.minutes), "what": compared.what, "source": compared.source},
    }


def table_rows(data: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Rows of the table about the critical path: step, its start and end in the slow case, its duration, and the source
    of the figure.
    """
    return [
        (
            each["step"],
            f"{each['start']:.0f}–{each['end']:.0f}",
            f"{each['minutes'][0]:g}–{each['minutes'][1]:g}",
            each["source"] if each["published"] else f"ours: {each['source']}",
        )
        for each in data["path"]
        if each["minutes"][1] > SHORT
    ]
